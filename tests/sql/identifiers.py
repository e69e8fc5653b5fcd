"""Identifiers to plant in a corpus: each with the part people remember of it, and others that look much the same."""

from __future__ import annotations

import random
import string
import uuid
from collections.abc import Callable
from typing import NamedTuple

HEX = "0123456789abcdef"
WORDS = (  # noqa: SIM905
    "order invoice account session refund shipment device firmware backup tenant profile report gateway cache"
    " ledger vault beacon rotor valve panel sensor relay bridge cursor packet matrix falcon orchid granite"
).split()


class Identifier(NamedTuple):
    """What is planted, what else it must be found by, and what stands in other chunks."""

    kind: str
    whole: str
    part: str
    similar: tuple[str, ...]


# Written by hand: (kind, whole, part, similar).
BY_HAND = (
    ("error", "ERR-1042", "1042", ("ERR-1043", "ERR-2042", "ERR-1041")),
    ("error", "0x80070057", "80070057", ("0x80070058", "0x80070005")),
    ("error", "ORA-00942", "00942", ("ORA-00943", "ORA-01942")),
    ("error", "SQLSTATE 42P01", "42P01", ("SQLSTATE 42P02", "SQLSTATE 42P07")),
    ("error", "E_ACCESSDENIED", "E_ACCESSDENIED", ("E_FAIL", "E_OUTOFMEMORY")),
    ("product", "PX-4471-B", "4471", ("PX-4472-B", "PX-4474-B")),
    ("product", "AB/1234/C", "1234", ("AB/1235/C", "AB/1243/C")),
    ("product", "BRK-00817/L", "00817", ("BRK-00818/L", "BRK-00871/R")),
    ("product", "iPhone15Pro", "iPhone15", ("iPhone14Pro", "iPhone16")),
    ("version", "v2.14.3", "2.14.3", ("v2.14.4", "v2.13.3", "v3.14.2")),
    ("version", "3.11.9-rc2", "3.11.9", ("3.11.8-rc2", "3.12.9-rc1")),
    ("version", "OpenSSL_1_1_1w", "OpenSSL_1_1_1w", ("OpenSSL_1_1_1v", "OpenSSL_1_1_0w")),
    ("path", "/etc/nginx/sites-enabled/shop.conf", "shop.conf", ("/etc/nginx/sites-enabled/blog.conf",)),
    ("path", "~/.config/alacritty.toml", "alacritty", ("~/.config/kitty.toml",)),
    ("path", r"C:\Users\ana\Documents\budget.xlsx", "budget.xlsx", (r"C:\Users\ana\Documents\plan.xlsx",)),
    (
        "path",
        r"\\fileserver\archive\2019\q3.zip",
        r"archive\2019\q3.zip",
        (r"\\fileserver\archive\2018\q4.zip",),
    ),
    ("path", "src/app/main_window.py", "main_window.py", ("src/app/main_menu.py", "src/app/window.py")),
    (
        "URL",
        "https://shop.example.com/returns?ref=88213",
        "88213",
        ("https://shop.example.com/returns?ref=88214",),
    ),
    (
        "URL",
        "https://docs.example.org/api/v2/users#rotate",
        "docs.example.org",
        ("https://www.example.org/api/v1/users",),
    ),
    ("URL", "http://localhost:8765/health", "8765", ("http://localhost:8766/health",)),
    ("address", "ana.kowalska@example.org", "kowalska", ("ana.nowak@example.org", "jan@example.org")),
    ("address", "ops+alerts@example.net", "ops+alerts", ("ops+pages@example.net",)),
    ("name", "getUserName", "getUserName", ("getUserId", "setUserEmail")),
    ("name", "XMLHttpRequest", "HttpRequest", ("XMLDocument",)),
    ("name", "HTTPServer", "HTTPServer", ("HTTPClient", "FTPServer")),
    ("name", "parse_json_lines", "json_lines", ("parse_json_array", "parse_csv_rows")),
    ("name", "MAX_RETRY_COUNT", "MAX_RETRY_COUNT", ("MAX_RETRY_DELAY", "MIN_POOL_COUNT")),
    ("name", "__post_init__", "post_init", ("__init_subclass__",)),
    ("name", "std::unordered_multimap", "unordered_multimap", ("std::map", "std::multiset")),
    ("name", "--dry-run", "dry-run", ("--dry-walk",)),
    ("name", "kube-proxy", "kube-proxy", ("kube-scheduler", "haproxy")),
    ("language", "C++", "C++", ("C", "B++")),
    ("language", "C#", "C#", ("C", "D")),
    ("language", "F#", "F#", ("F", "G")),
    ("language", ".NET", ".NET", ("internet", "network")),
    ("language", "Node.js", "Node.js", ("Vue.js", "D3.js")),
    ("language", "C++/CLI", "C++/CLI", ("Java/CLI",)),
    ("language", "VB.NET", "VB.NET", ("VB6",)),
    ("CVE", "CVE-2024-31337", "31337", ("CVE-2024-31338", "CVE-2023-31373")),
    ("network", "2001:db8:85a3::8a2e:370:7334", "85a3", ("2001:db8:85a4::8a2e:371:7335",)),
    ("network", "fe80::1ff:fe23:4567:890a", "fe23:4567", ("fe80::1ff:fe23:4568:890b",)),
    ("network", "::1", "::1", ("::2",)),
    ("network", "192.168.17.254", "192.168.17.254", ("192.168.17.253", "192.168.254.17")),
    ("network", "10.20.30.0/24", "10.20.30.0", ("10.20.31.0/24",)),
    ("network", "00:1B:44:11:3A:B7", "00:1B:44:11:3A:B7", ("00:1B:44:11:3A:B8",)),
    ("ISBN", "978-3-16-148410-0", "148410", ("978-3-16-148411-7",)),
    ("date", "2024-03-15", "2024-03-15", ("2024-03-16", "2023-03-15")),
    ("date", "15.03.2024", "15.03.2024", ("16.03.2024", "15.04.2024")),
    ("German", "Straßenverkehrsordnung", "Strassenverkehrsordnung", ("Straßenbahn",)),
    ("German", "Müller-Lüdenscheidt", "Ludenscheidt", ("Müller-Lehmann",)),
    ("German", "Größenwahn", "GROSSENWAHN", ("Größe",)),
    ("accent", "Łódź", "Lodz", ("Łomża",)),
    ("accent", "smørrebrød", "smorrebrod", ("smør",)),
    ("accent", "crème brûlée", "brulee", ("crème fraîche",)),
    ("accent", "Çelik", "Celik", ("Demir",)),
    ("accent", "İstanbul", "Istanbul", ("Ankara",)),
    ("accent", "Nguyễn Văn Đạt", "Nguyen", ("Trần Văn An",)),
    ("accent", "Ἀθῆναι", "Αθηναι", ("Σπάρτη",)),
    ("accent", "naïve", "naive", ("native",)),
    ("company", "AT&T", "AT&T", ("A&P", "B&T")),
    ("company", "R&D-2031", "2031", ("R&D-2032",)),
    ("emoji", "🛰️", "🛰", ("🚀", "🛸")),
)


def near(source: random.Random, text: str) -> str:
    """The text with one digit changed."""
    place = source.choice([i for i, letter in enumerate(text) if letter.isdigit()])
    digit = source.choice([digit for digit in string.digits if digit != text[place]])
    return text[:place] + digit + text[place + 1 :]


def generated(source: random.Random, count: int) -> list[Identifier]:
    """As many identifiers of each of many kinds, the same for the same source; every part is a number or word of its own."""
    numbers = iter(source.sample(range(10_000, 99_999), 20 * count))
    names = iter(
        f"{one}{two}"
        for one, two in source.sample([(a, b) for a in WORDS for b in WORDS if a != b], 8 * count)
    )

    def letters(size: int) -> str:
        return "".join(source.choices(string.ascii_uppercase, k=size))

    def digits(size: int, alphabet: str = HEX) -> str:
        return "".join(source.choices(alphabet, k=size))

    def snake() -> tuple[str, str]:
        return (f"{source.choice(WORDS)}_{(part := next(names))}_id", part)

    def camel() -> tuple[str, str]:
        part = f"{source.choice(WORDS).title()}{next(numbers)}"
        return f"{source.choice(WORDS)}{part}", part

    def numbered(form: str) -> Callable[[], tuple[str, str]]:
        def one() -> tuple[str, str]:
            number = str(next(numbers))
            return form.format(n=number, a=letters(2), w=source.choice(WORDS)), number

        return one

    kinds: dict[str, Callable[[], tuple[str, str]]] = {
        "error": numbered("{a}-{n}"),
        "SKU": numbered("{a}{n}-{a}"),
        "part number": numbered("{a}/{n}/{a}"),
        "glued": numbered("{a}{n}{a}"),
        "version": numbered("{w}-4.{n}.1"),
        "CVE": numbered("CVE-2023-{n}"),
        "URL": numbered("https://{w}.example.com/item?id={n}&lang=en"),
        "unix path": numbered("/var/log/{w}/{n}.log"),
        "windows path": numbered("D:\\{w}\\run{n}\\out.txt"),
        "kebab": numbered("{w}-worker-{n}"),
        "dotted": numbered("com.example.{w}.Task{n}"),
        "address": lambda: (f"{source.choice(WORDS)}.{(part := next(names))}@example.net", part),
        "snake": snake,
        "camel": camel,
        "UUID": lambda: ((whole := str(uuid.UUID(int=source.getrandbits(128)))), whole.rsplit("-", 1)[1]),
        "hash": lambda: ((whole := digits(40)), whole),
        "MAC": lambda: ((whole := ":".join(digits(2) for _ in range(6))), whole),
        "IPv6": lambda: ((whole := "2001:db8:" + ":".join(digits(4) for _ in range(4))), whole[9:]),
    }
    found = []
    for kind, make in kinds.items():
        for _ in range(count):
            whole, part = make()
            similar = tuple(near(source, whole) for _ in range(2)) if any(map(str.isdigit, whole)) else ()
            found.append(Identifier(kind, whole, part, similar))
    return found


def identifiers(seed: int = 42, count: int = 9) -> list[Identifier]:
    """The list written by hand and ``count`` of each generated kind."""
    return [*(Identifier(*entry) for entry in BY_HAND), *generated(random.Random(seed), count)]
