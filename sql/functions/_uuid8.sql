create function ragpg._uuid8(p_digest bytea) returns uuid
language sql immutable parallel safe
begin atomic
    select encode(
        set_byte(
            set_byte(substr(p_digest, 1, 16), 6, (get_byte(p_digest, 6) & 15) | 128),
            8, (get_byte(p_digest, 8) & 63) | 128
        ),
        'hex'
    )::uuid;
end;

comment on function ragpg._uuid8(bytea) is 'The first 16 bytes of a digest as a UUID of version 8 (RFC 9562, section 5.8: name-based on SHA-256).';

create function ragpg._document_id(p_collection text, p_tenant_id text, p_external_id text) returns uuid
language sql immutable parallel safe
begin atomic
    -- a zero byte can't occur in text, so no two names run together
    select ragpg._uuid8(sha256(
        convert_to(p_collection, 'UTF8') || '\x00'::bytea || convert_to(p_tenant_id, 'UTF8') || '\x00'::bytea || convert_to(p_external_id, 'UTF8')
    ));
end;

comment on function ragpg._document_id(text, text, text) is 'The id of a document, from its collection''s name, its tenant and its external id.';

create function ragpg._chunk_id(p_document_id uuid, p_content text, p_occurrence integer) returns uuid
language sql immutable parallel safe
begin atomic
    select ragpg._uuid8(sha256(uuid_send(p_document_id) || sha256(convert_to(p_content, 'UTF8')) || int4send(p_occurrence)));
end;

comment on function ragpg._chunk_id(uuid, text, integer) is
'The id of a chunk, from its document, its text and how many chunks of the same text come before it. An unchanged chunk keeps its id.';
