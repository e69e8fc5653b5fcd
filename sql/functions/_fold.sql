-- What people type in different ways and mean the same by, made the same. Postgres' contrib unaccent would have to be installed,
-- and is not immutable; normal forms are built in, and a short list has the letters that do not decompose.

create function ragpg._normalise(p_text text) returns text
language sql immutable parallel safe
begin atomic
    select case
        -- most texts: nothing but ASCII, accented letters of the West, dashes and quotes
        when p_text !~ '[^\u0001-\u007E\u00C0-\u00FF\u2014\u2018-\u201F\u20AC]' then p_text
        else regexp_replace(
            regexp_replace(
                normalize(p_text, nfkc),
                -- soft hyphens, zero-width marks and variation selectors are not seen, the vowel points of Hebrew and Arabic seldom written
                '[\u00AD\u200B-\u200F\u2060\uFE00-\uFE0F\uFEFF\u0591-\u05BD\u05BF-\u05C7\u0640\u064B-\u0652\u0670]', '', 'g'
            ),
            '[\u2010-\u2013\u2212]', '-', 'g'
        )
    end;
end;

comment on function ragpg._normalise(text) is
'The text in Unicode normal form KC, so that full-width letters, ligatures and combining marks match their plain forms; without invisible characters and optional vowel points, and with one kind of hyphen.';

create function ragpg._accented() returns text
language sql immutable parallel safe
begin atomic
    select '[\u00C0-\u024F\u0253-\u025B\u0300-\u036F\u0386-\u03CE\u0401\u0451\u1E00-\u1FFF]' as characters;
end;

comment on function ragpg._accented() is 'The regular expression for a letter that may have an accent to strip.';

create function ragpg._fold(p_text text) returns text
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_text text := p_text;
begin
    if v_text is null or v_text !~ ragpg._accented() then
        return v_text;
    end if;
    -- a breve or a diaeresis makes another letter in Cyrillic
    v_text := regexp_replace(
        normalize(v_text, nfd), '[\u0300-\u0305\u0307\u0309-\u036F]|(?<![\u0400-\u04FF])[\u0306\u0308]', '', 'g'
    );
    if octet_length(v_text) > length(v_text) then
        v_text := replace(replace(replace(replace(v_text, 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th');
        v_text := replace(replace(replace(replace(v_text, 'ẞ', 'SS'), 'Æ', 'AE'), 'Œ', 'OE'), 'Þ', 'TH');
    end if;
    -- the rest is dear, and seldom needed
    if octet_length(v_text) > length(v_text) then
        v_text := translate(
            normalize(v_text, nfc), 'øØđĐðÐħĦıłŁŋŊŧŦƒɓƁɗƊƙƘƴƳςёЁ', 'oOdDdDhHilLnNtTfbBdDkKyYσеЕ'
        );
    end if;
    return v_text;
end;
$$;

comment on function ragpg._fold(text) is
'The text with Latin and Greek letters stripped of their accents (Müller: Muller, Straße: Strasse, Łódź: Lodz). Other scripts stay, but for ё and stress marks.';
