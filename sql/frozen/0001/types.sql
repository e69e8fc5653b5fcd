-- Row types. A composite type carries what one step of the search hands to the next, so that each step is one small function.

create type ragpg.search_hit as (
    chunk_id uuid,
    document_id uuid,
    external_id text,
    title text,
    uri text,
    content text,
    heading text,
    section_path text[],
    page_start integer,
    page_end integer,
    char_start integer,
    char_end integer,
    metadata jsonb,
    score double precision,
    vector_rank integer,
    vector_distance double precision,
    keyword_rank integer,
    keyword_score double precision,
    degraded text[]
);

comment on type ragpg.search_hit is
'One search result. Ranks count from 1; a higher score and a lower distance are better; degraded says why the answer is less than it could be, empty when nothing was given up.';

-- who asks, where, and through which filters
create type ragpg._scope as (
    collection_id bigint,
    index_version_id bigint,
    is_active boolean,
    dimensions integer,
    model_key text,
    query_prefix text,
    bm25_k1 double precision,
    bm25_b double precision,
    chunk_count bigint,
    average_length double precision,
    document_count bigint,
    document_bytes bigint,
    statistics_horizon timestamptz,
    bounds_valid boolean,
    tenant_id text,
    principals text[],
    every_document boolean,
    filter jsonpath,
    chunk_filter jsonpath,
    configs text[],
    phrases tsquery,
    exclusions tsquery,
    idf text,
    -- filled by _measure_visibility
    narrow_limit integer,
    is_narrow boolean,
    visible_chunks integer,
    narrow_documents uuid[]
);

comment on type ragpg._scope is
'What a search may look at: the collection, its index version and statistics, the caller''s tenant and principals, the languages in use, the filters.';

create type ragpg._terms as (
    lexemes text[],
    queries tsquery[],
    document_frequencies bigint[],
    idfs double precision[],
    weights double precision[],
    bounds double precision[],
    chunk_count bigint,
    average_length double precision,
    every_match boolean,
    degraded text[]
);

comment on type ragpg._terms is
'The query''s terms, rarest first, with what BM25 needs of each: weight is count × idf × (k1 + 1), bound the largest score the term can give a chunk.';

create type ragpg._leg as (
    document_ids uuid[],
    chunk_ids uuid[],
    scores double precision[],
    degraded text[],
    detail jsonb
);

comment on type ragpg._leg is
'The candidates of one leg in rank order. scores holds BM25 scores (keyword) or cosine distances (vector).';

create type ragpg._ranking as (
    document_ids uuid[],
    chunk_ids uuid[],
    scores double precision[],
    vector_ranks integer[],
    vector_distances double precision[],
    keyword_ranks integer[],
    keyword_scores double precision[],
    scope ragpg._scope,
    terms ragpg._terms,
    query_embedding halfvec,
    degraded text[],
    detail jsonb
);

comment on type ragpg._ranking is
'The fused candidates of a search in rank order, before their text is fetched, and what was compared with: scope, terms, vector.';
