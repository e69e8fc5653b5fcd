"""Write the two binary files of the example handbook: a PDF with pages and a table, and a DOCX.

Run ``python tools/build_handbook.py`` after a change of the texts below, and commit the result. The output is
the same every time.
"""

from __future__ import annotations

import io
import zipfile
from datetime import UTC, datetime
from pathlib import Path

from docx import Document
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.lib.units import cm
from reportlab.platypus import Flowable, PageBreak, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

HANDBOOK = Path(__file__).resolve().parent.parent / "examples" / "handbook"
WRITTEN_AT = datetime(2026, 4, 20, 9, 0, tzinfo=UTC)

RESULTS = [
    ["Product line", "Revenue Q1 2025", "Revenue Q1 2026", "Change", "Gross margin"],
    ["Fieldstation (PX-4471)", "1,840", "2,215", "+20.4 %", "46 %"],
    ["Fieldstation Compact", "402", "389", "-3.2 %", "38 %"],
    ["Gateways (GW-220)", "655", "790", "+20.6 %", "51 %"],
    ["Soil probes (SN-18)", "218", "301", "+38.1 %", "44 %"],
    ["Service contracts", "510", "642", "+25.9 %", "71 %"],
    ["Total", "3,625", "4,337", "+19.6 %", "50 %"],
]


def write_results_pdf(path: Path) -> None:
    """Write the quarterly results: three pages, one table."""
    styles = getSampleStyleSheet()

    def heading(text: str) -> Paragraph:
        return Paragraph(text, styles["Heading2"])

    def text(words: str) -> Paragraph:
        return Paragraph(words, styles["BodyText"])

    table = Table(RESULTS, colWidths=[5 * cm, 3.2 * cm, 3.2 * cm, 2.2 * cm, 2.6 * cm], repeatRows=1)
    table.setStyle(
        TableStyle(
            [
                ("GRID", (0, 0), (-1, -1), 0.5, colors.black),
                ("FONTNAME", (0, 0), (-1, 0), "Helvetica-Bold"),
                ("FONTNAME", (0, -1), (-1, -1), "Helvetica-Bold"),
                ("ALIGN", (1, 0), (-1, -1), "RIGHT"),
            ]
        )
    )
    story: list[Flowable] = [
        Paragraph("Results of the first quarter 2026", styles["Title"]),
        text(
            "Prepared by Yusuf Demir on 20 April 2026 for the board. Amounts are in thousands of euros and "
            "are not audited."
        ),
        Spacer(1, 0.4 * cm),
        heading("Summary"),
        text(
            "Revenue rose by 19.6 % to 4,337 thousand euros. The operating result was 512 thousand euros, "
            "after 388 thousand in the "
            "first quarter of 2025. Growth came from the ultrasonic station and from service contracts; "
            "the Compact lost ground "
            "to a cheaper competitor in Spain."
        ),
        text(
            "Cash at the end of March was 2.9 million euros. The loan for the new assembly hall, 1.5 "
            "million euros at 4.1 %, was "
            "drawn in full on 2 February."
        ),
        PageBreak(),
        heading("Revenue by product line"),
        table,
        Spacer(1, 0.4 * cm),
        text(
            "The gross margin of the gateways rose by four points because the radio module is now bought "
            "from two suppliers. "
            "The margin of the Compact fell with the price cut of January."
        ),
        PageBreak(),
        heading("Outlook"),
        text(
            "For the whole of 2026 we expect revenue between 18.0 and 18.8 million euros and an operating "
            "margin of 11 to 12 %. "
            "The forecast assumes that the radio module stays available and that the euro stays below 1.15 "
            "US dollars."
        ),
        heading("Risks"),
        text(
            "One customer, the state weather service of Lower Saxony, stands for 14 % of revenue. Its "
            "contract ends in October 2026 "
            "and is put out to tender in June."
        ),
        text(
            "A recall of the battery set BT-09 of batch 2507 is possible; 60 thousand euros are set aside "
            "for it."
        ),
        heading("Capital spending"),
        text(
            "The new assembly hall opens in September and costs 2.3 million euros in all, of which 0.9 "
            "million fall in this quarter."
        ),
    ]
    document = SimpleDocTemplate(
        str(path),
        pagesize=A4,
        invariant=1,
        title="Results of the first quarter 2026",
        author="Yusuf Demir",
        lang="en",
    )
    document.build(story)


def write_onboarding_docx(path: Path) -> None:
    """Write the onboarding plan: headings, two lists, a table."""
    document = Document()
    document.core_properties.title = "Onboarding plan"
    document.core_properties.author = "Odile Fontaine"
    document.core_properties.created = WRITTEN_AT
    document.core_properties.modified = WRITTEN_AT
    document.add_heading("Onboarding plan", level=1)
    document.add_paragraph(
        "For managers and the people team. It covers the time from the signed contract to the end of the "
        "probation period, which lasts six months."
    )
    document.add_heading("Before the first day", level=2)
    for step in (
        "Order the laptop ten working days ahead; engineers choose between Linux and macOS.",
        "Ask the building service for a key card. Cards for the assembly hall need a safety briefing first.",
        "Name a buddy from another team.",
    ):
        document.add_paragraph(step, style="List Bullet")
    document.add_heading("The first week", level=2)
    document.add_paragraph(
        "The newcomer spends the second day in the warehouse and the third at the help desk, whatever the "
        "role. On Friday the manager and the newcomer "
        "agree on three goals for the first 90 days."
    )
    document.add_heading("Conversations", level=2)
    rows = [
        ("When", "Who", "Subject"),
        ("day 30", "manager", "first impressions, missing tools"),
        ("day 60", "buddy", "the team from outside"),
        ("day 90", "manager and people team", "the three goals"),
        ("month 5", "manager and head of department", "decision on probation"),
    ]
    table = document.add_table(rows=0, cols=3, style="Table Grid")
    for row in rows:
        for cell, value in zip(table.add_row().cells, row, strict=True):
            cell.text = value
    document.add_heading("Equipment budget", level=2)
    document.add_paragraph(
        "Each newcomer has 900 € for a home office: desk, chair, screen. The equipment stays the property "
        "of the company for three years."
    )
    document.add_heading("Leaving early", level=2)
    document.add_paragraph("During probation either side may end the contract with a notice of two weeks.")
    buffer = io.BytesIO()
    document.save(buffer)
    path.write_bytes(with_fixed_times(buffer.getvalue()))


def with_fixed_times(archive: bytes) -> bytes:
    """Return the same ZIP archive with one date for every entry, so that two runs give the same bytes."""
    result = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(archive)) as source,
        zipfile.ZipFile(result, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for name in source.namelist():
            entry = zipfile.ZipInfo(name, date_time=WRITTEN_AT.timetuple()[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            target.writestr(entry, source.read(name))
    return result.getvalue()


def main() -> None:
    """Write both files into ``examples/handbook``."""
    write_results_pdf(HANDBOOK / "finance" / "results-2026-q1.pdf")
    write_onboarding_docx(HANDBOOK / "hr" / "onboarding.docx")


if __name__ == "__main__":
    main()
