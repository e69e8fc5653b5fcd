CREATE SCHEMA ragpg;

COMMENT ON SCHEMA ragpg IS 'Retrieval-augmented generation: documents, chunks, embeddings and the functions that search them.';

CREATE TYPE ragpg._leg AS (
	document_ids uuid[],
	chunk_ids uuid[],
	scores double precision[],
	degraded text[],
	detail jsonb
);

COMMENT ON TYPE ragpg._leg IS 'The candidates of one leg in rank order. scores holds BM25 scores (keyword) or cosine distances (vector).';

CREATE TYPE ragpg._scope AS (
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
	statistics_horizon timestamp with time zone,
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
	narrow_limit integer,
	is_narrow boolean,
	visible_chunks integer,
	narrow_documents uuid[]
);

COMMENT ON TYPE ragpg._scope IS 'What a search may look at: the collection, its index version and statistics, the caller''s tenant and principals, the languages in use, the filters.';

CREATE TYPE ragpg._terms AS (
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

COMMENT ON TYPE ragpg._terms IS 'The query''s terms, rarest first, with what BM25 needs of each: weight is count × idf × (k1 + 1), bound the largest score the term can give a chunk.';

CREATE TYPE ragpg._ranking AS (
	document_ids uuid[],
	chunk_ids uuid[],
	scores double precision[],
	vector_ranks integer[],
	vector_distances double precision[],
	keyword_ranks integer[],
	keyword_scores double precision[],
	scope ragpg._scope,
	terms ragpg._terms,
	query_embedding public.halfvec,
	degraded text[],
	detail jsonb
);

COMMENT ON TYPE ragpg._ranking IS 'The fused candidates of a search in rank order, before their text is fetched, and what was compared with: scope, terms, vector.';

CREATE TYPE ragpg.search_hit AS (
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

COMMENT ON TYPE ragpg.search_hit IS 'One search result. Ranks count from 1; a higher score and a lower distance are better; degraded says why the answer is less than it could be, empty when nothing was given up.';

CREATE FUNCTION ragpg._accented() RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT '[\u00C0-\u024F\u0253-\u025B\u0300-\u036F\u0386-\u03CE\u0401\u0451\u1E00-\u1FFF]'::text AS characters;
END;

COMMENT ON FUNCTION ragpg._accented() IS 'The regular expression for a letter that may have an accent to strip.';

CREATE FUNCTION ragpg._activation_lock(p_collection text) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT hashtextextended(('ragpg activate '::text || p_collection), (0)::bigint) AS hashtextextended;
END;

COMMENT ON FUNCTION ragpg._activation_lock(p_collection text) IS 'The advisory lock between those who write to a collection (shared) and who activates another of its index versions (alone).';

CREATE FUNCTION ragpg._analyze(p_config regconfig, p_text text) RETURNS tsvector
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_text text := ragpg._normalise(p_text);
    v_characters tsvector := '';
begin
    if v_text is null then
        return '';
    end if;
    if octet_length(v_text) <> length(v_text) and v_text ~ ragpg._spaceless() then
        v_characters := ragpg._characters(v_text);
        v_text := regexp_replace(v_text, ragpg._spaceless(), ' ', 'g');
    end if;
    return ragpg._words(p_config, ragpg._plain_words(v_text))
        || v_characters
        || to_tsvector(p_config, ragpg._word_parts(v_text))
        || ragpg._positioned_lexemes(ragpg._identifiers(v_text));
end;
$$;

COMMENT ON FUNCTION ragpg._analyze(p_config regconfig, p_text text) IS 'The tsvector of a text: words by the given configuration, identifiers whole and by part, scripts without spaces as pairs of characters. Documents and queries both go through it.';

CREATE FUNCTION ragpg._announce_write(p_index_version bigint) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    -- held to the end of the transaction: the object is the second in which it began to write. Nobody ever waits for it.
    perform pg_advisory_xact_lock_shared(
        ragpg._write_lock_class(p_index_version), (extract(epoch from clock_timestamp())::bigint % 2147483647)::integer
    );
end;
$$;

COMMENT ON FUNCTION ragpg._announce_write(p_index_version bigint) IS 'Lets refresh_statistics see that this transaction is writing chunks, and since when. Call it before written_at is read from the clock.';

CREATE FUNCTION ragpg._quoted(p_lexeme text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT ((''''::text || replace(replace(p_lexeme, '\'::text, '\\'::text), ''''::text, ''''''::text)) || ''''::text);
END;

COMMENT ON FUNCTION ragpg._quoted(p_lexeme text) IS 'A lexeme as the text forms of tsvector and tsquery want it, so that nothing in it is syntax.';

CREATE FUNCTION ragpg._any_of(p_lexemes text[]) RETURNS tsquery
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT (string_agg(ragpg._quoted(item.lexeme), ' | '::text))::tsquery AS string_agg
    FROM unnest(_any_of.p_lexemes) item(lexeme);
END;

COMMENT ON FUNCTION ragpg._any_of(p_lexemes text[]) IS 'The tsquery that matches any of the lexemes, taken as they are: nothing is parsed or stemmed a second time. Null for none.';

CREATE FUNCTION ragpg._are_principals(p_names text[]) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT ((p_names IS NOT NULL) AND (COALESCE(array_ndims(p_names), 1) = 1) AND (NOT (EXISTS ( SELECT
            FROM unnest(_are_principals.p_names) principal(name)
           WHERE ((principal.name IS NULL) OR (principal.name !~ '\S'::text) OR (principal.name = '*'::text))))));
END;

COMMENT ON FUNCTION ragpg._are_principals(p_names text[]) IS 'True for a list of names that a document may be opened to: none empty, none the wildcard. Not for null.';

CREATE FUNCTION ragpg._best_matches(p_scope ragpg._scope, p_terms ragpg._terms, p_candidates tsquery, p_fresh boolean, p_limit integer) RETURNS ragpg._leg
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET work_mem TO '64MB'
    SET jit TO 'off'
    AS $_$
declare
    v_leg ragpg._leg;
begin
    -- the number of terms, and what is looked at first, is all that varies in the text: every value is a parameter
    execute
        'select array_agg(best.document_id order by best.score desc, best.id), array_agg(best.id order by best.score desc, best.id),'
        ' array_agg(best.score order by best.score desc, best.id)'
        ' from (select scored.document_id, scored.id, scored.score from ('
        '   select found.document_id, found.id, ' || ragpg._score_expression(cardinality(p_terms.lexemes)) || ' as score'
        '   from ('
        '     select chunk.document_id, chunk.id, chunk.content_tsv,'
        '       $3 * (1 - $4 + $4 * chunk.lexeme_count / $5) as saturation'
        '     from '
        -- the fences keep the order: without statistics the planner would search the word index once a document
        || case when p_scope.narrow_documents is null then
            '(select document_id, id, content_tsv, lexeme_count, metadata from ragpg.chunk where index_version_id = $6 and '
            || case when p_fresh then '(content_tsv @@ $7 or (written_at >= $8 and content_tsv @@ $9))' else 'content_tsv @@ $7' end
            || ' offset 0) as chunk cross join lateral'
            ' (select * from ragpg.document where document.id = chunk.document_id and $19 is null offset 0) as document'
        else
            'unnest($19) as narrow (id) join ragpg.document on document.id = narrow.id cross join lateral'
            ' (select chunk.* from ragpg.chunk where index_version_id = $6 and chunk.document_id = document.id offset 0) as chunk'
        end ||
        '     where document.collection_id = $10 and document.tenant_id = $11 and ($12 or document.acl && $13)'
        '       and (document.expires_at is null or document.expires_at > now())'
        '       and ($14 is null or document.metadata @@ $14) and ($15 is null or chunk.metadata @@ $15)'
        '       and ($16 is null or chunk.content_tsv @@ $16) and ($17 is null or not chunk.content_tsv @@ $17)'
        || case when p_scope.narrow_documents is null then '' else ' and chunk.content_tsv @@ $9' end ||
        -- another: the length normalisation is computed once a chunk, not once a term
        '     offset 0'
        '   ) as found'
        ' ) as scored order by scored.score desc, scored.id limit $18) as best'
    into v_leg.document_ids, v_leg.chunk_ids, v_leg.scores
    using
        p_terms.weights, p_terms.queries, p_scope.bm25_k1, p_scope.bm25_b, p_terms.average_length,
        p_scope.index_version_id, p_candidates, p_scope.statistics_horizon, ragpg._any_of(p_terms.lexemes),
        p_scope.collection_id, p_scope.tenant_id, p_scope.every_document, p_scope.principals,
        p_scope.filter, p_scope.chunk_filter, p_scope.phrases, p_scope.exclusions, p_limit, p_scope.narrow_documents;
    return v_leg;
end;
$_$;

COMMENT ON FUNCTION ragpg._best_matches(p_scope ragpg._scope, p_terms ragpg._terms, p_candidates tsquery, p_fresh boolean, p_limit integer) IS 'The p_limit best visible chunks by BM25 among those that match p_candidates (with p_fresh: and among all matches written since the statistics). For a narrow caller, among all that match.';

CREATE FUNCTION ragpg._bind_role(p_role text, p_principals text[], p_tenant_id text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if not ragpg._are_principals(p_principals) then
        raise exception using
            errcode = 'RG007',
            message = format('p_principals is %s, which is no list of principals', p_principals),
            hint = 'Give principals such as {user:ana,group:hr}; public is always one of them, and * is the owner''s alone.';
    end if;
    execute format('revoke execute on function ragpg._may_set_principals() from %I', p_role);
    if has_function_privilege(p_role, 'ragpg._may_set_principals()', 'execute')
        or has_function_privilege(p_role, 'ragpg._may_choose_principals()', 'execute')
        or exists (
            select from pg_proc as proc
            where proc.pronamespace = 'ragpg'::regnamespace and proc.proname = 'set_acl' and has_function_privilege(p_role, proc.oid, 'execute')
        ) then
        raise exception using
            errcode = 'RG007',
            message = format('role %I has rights that a binding would not hold', p_role),
            hint = 'It is the owner or a superuser, or was granted trusted_reader or writer (ragpg.revoke_access takes that back), or belongs to a role that is not bound.';
    end if;
    if (select role.rolbypassrls from pg_roles as role where role.rolname = p_role) then
        raise exception using
            errcode = 'RG007',
            message = format('role %I bypasses row-level security, so that a binding would not hold', p_role),
            hint = 'Take that from the role: alter role … nobypassrls.';
    end if;
    execute format('grant execute on function ragpg._is_bound() to %I', p_role);
    insert into ragpg.role_principal (role, tenant_id, principals)
    select ragpg._role(p_role)::regrole, p_tenant_id, array(select distinct unnest(p_principals) as name order by name)
    on conflict on constraint pk_role_principal do update
    set tenant_id = excluded.tenant_id, principals = excluded.principals, created_at = excluded.created_at;
end;
$$;

COMMENT ON FUNCTION ragpg._bind_role(p_role text, p_principals text[], p_tenant_id text) IS 'Binds a role to its principals in one tenant, in place of what it was bound to. RG007 where it has other rights that leave it free.';

CREATE TABLE ragpg.role_principal (
    role regrole NOT NULL,
    tenant_id text NOT NULL,
    principals text[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON TABLE ragpg.role_principal IS 'What a role is bound to; written by grant_access and revoke_access only.';

COMMENT ON COLUMN ragpg.role_principal.role IS 'The role; as regrole it follows a renamed role, and a dump holds the name.';

COMMENT ON COLUMN ragpg.role_principal.tenant_id IS 'The one tenant it may search.';

COMMENT ON COLUMN ragpg.role_principal.principals IS 'The principals its sessions have at the most.';

COMMENT ON COLUMN ragpg.role_principal.created_at IS 'When the role was bound.';

CREATE FUNCTION ragpg._bindings() RETURNS SETOF ragpg.role_principal
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    -- from the caller's own memberships, which are few, not from all bindings, which may be many
    return query
    with recursive granted (role) as (
        select role.oid from pg_roles as role
        where role.rolname = ragpg._caller()
        union
        select membership.roleid
        from granted
        join pg_auth_members as membership on membership.member = granted.role
    )

    select binding.*
    from granted
    join ragpg.role_principal as binding on binding.role = granted.role
    -- a membership without inheritance gives nothing until set role
    where pg_has_role(ragpg._caller(), granted.role, 'usage');
end;
$$;

COMMENT ON FUNCTION ragpg._bindings() IS 'What the caller''s own role and the roles it inherits from are bound to.';

CREATE FUNCTION ragpg._cache_embeddings(p_model_key text, p_input_hashes bytea[], p_embeddings public.vector[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $_$
declare
    v_dimensions constant integer := (regexp_match(p_model_key, ':([0-9]{1,5})(:query)?$'))[1]::integer;
begin
    if p_model_key !~ ':query$' and not has_function_privilege(ragpg._caller(), 'ragpg._external_ids(text, text, text)', 'execute') then
        raise exception using
            errcode = 'RG006', message = format('role %I may cache the vectors of queries only', ragpg._caller());
    end if;
    if exists (
        select from unnest(p_embeddings) as given (embedding)
        where ragpg._dimensions(given.embedding) is distinct from v_dimensions
    ) then
        raise exception using
            errcode = 'RG005',
            message = format('a vector is not one of model key %L', p_model_key),
            hint = 'The key is provider:model:dimensions, with :query behind it for queries.';
    end if;
    insert into ragpg.embedding_cache (model_key, input_hash, embedding, last_used_at)
    select p_model_key, given.input_hash, ragpg._to_halfvec(given.embedding), clock_timestamp()
    from unnest(p_input_hashes, p_embeddings) as given (input_hash, embedding)
    -- in one order everywhere: two writers of the same inputs do not deadlock
    order by given.input_hash
    on conflict (model_key, input_hash) do nothing;
end;
$_$;

COMMENT ON FUNCTION ragpg._cache_embeddings(p_model_key text, p_input_hashes bytea[], p_embeddings public.vector[]) IS 'Remembers the vectors of inputs for _cached_embeddings. The key is provider:model:dimensions, and :query behind it for queries; documents only for a writer. RG005, RG006.';

CREATE FUNCTION ragpg._cached_embeddings(p_model_key text, p_input_hashes bytea[]) RETURNS TABLE(input_hash bytea, embedding public.vector)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
begin
    return query
    select cache.input_hash, ragpg._to_vector(cache.embedding)
    from ragpg.embedding_cache as cache
    where cache.model_key = p_model_key and cache.input_hash = any (p_input_hashes);
end;
$$;

COMMENT ON FUNCTION ragpg._cached_embeddings(p_model_key text, p_input_hashes bytea[]) IS 'Vectors that a model (provider:model:dimensions, with :query behind it for queries) gave for inputs, looked up by the SHA-256 of the exact input.';

CREATE FUNCTION ragpg._cached_query(p_scope ragpg._scope, p_query text) RETURNS public.halfvec
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    return (
        select cache.embedding from ragpg.embedding_cache as cache
        where
            -- under a key of its own: what a document was embedded from can't be guessed at here
            cache.model_key = p_scope.model_key || ':query'
            and cache.input_hash = sha256(convert_to(p_scope.query_prefix || p_query, 'UTF8'))
    );
end;
$$;

COMMENT ON FUNCTION ragpg._cached_query(p_scope ragpg._scope, p_query text) IS 'The vector of a query that was embedded before, if it is in the cache.';

CREATE FUNCTION ragpg._caller() RETURNS name
    LANGUAGE sql STABLE PARALLEL RESTRICTED
    BEGIN ATOMIC
 SELECT (COALESCE(NULLIF(current_setting('role'::text, true), 'none'::text), (SESSION_USER)::text))::name AS "coalesce";
END;

COMMENT ON FUNCTION ragpg._caller() IS 'The role that called: the one of a SET ROLE in force (as PostgREST and Supabase do), else the session''s.';

CREATE FUNCTION ragpg._caller_is_owner() RETURNS boolean
    LANGUAGE sql STABLE PARALLEL RESTRICTED
    BEGIN ATOMIC
 SELECT pg_has_role(ragpg._caller(), namespace.nspowner, 'usage'::text) AS pg_has_role
    FROM pg_namespace namespace
   WHERE (namespace.nspname = 'ragpg'::name);
END;

COMMENT ON FUNCTION ragpg._caller_is_owner() IS 'True where the caller is the owner of schema ragpg, a member of it, or a superuser.';

CREATE FUNCTION ragpg._causes_of_absence(p_scope ragpg._scope, p_query text, p_document_id uuid) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    v_document record;
    v_causes jsonb := '[]';
begin
    select document.acl, document.expires_at, document.indexed_at into v_document
    from ragpg.document where document.id = p_document_id;
    if not exists (
        select from ragpg.chunk where chunk.index_version_id = p_scope.index_version_id and chunk.document_id = p_document_id
    ) then
        v_causes := v_causes || jsonb_build_object('cause', 'not_indexed', 'index_version', p_scope.index_version_id);
    end if;
    if v_document.expires_at <= now() then
        v_causes := v_causes || jsonb_build_object('cause', 'expired', 'expires_at', v_document.expires_at);
    end if;
    if not (p_scope.every_document or v_document.acl && p_scope.principals) then
        v_causes := v_causes || jsonb_build_object(
            'cause', 'hidden', 'acl', v_document.acl, 'principals', p_scope.principals
        );
    end if;
    return v_causes || ragpg._filters_failed(p_scope, p_query, p_document_id);
end;
$$;

COMMENT ON FUNCTION ragpg._causes_of_absence(p_scope ragpg._scope, p_query text, p_document_id uuid) IS 'All that keeps a document out of a search whatever its rank: not indexed, expired, hidden from the principals, filtered out.';

CREATE FUNCTION ragpg._centroid(p_scope ragpg._scope, p_document_ids uuid[], p_chunk_ids uuid[], p_weights double precision[]) RETURNS public.halfvec
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
begin
    return (
        select ragpg._weighted_sum(array_agg(embedding.embedding order by item.place), array_agg(item.weight order by item.place))
        from unnest(p_document_ids, p_chunk_ids, p_weights) with ordinality as item (document_id, chunk_id, weight, place)
        join ragpg.embedding
            on
                embedding.index_version_id = p_scope.index_version_id
                and embedding.document_id = item.document_id
                and embedding.chunk_id = item.chunk_id
    );
end;
$$;

COMMENT ON FUNCTION ragpg._centroid(p_scope ragpg._scope, p_document_ids uuid[], p_chunk_ids uuid[], p_weights double precision[]) IS 'The weighted centroid of the given chunks'' vectors; null where none has one.';

CREATE FUNCTION ragpg._spaceless() RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT ('[\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF\u3005\u3040-\u30FF\u3400-\u4DBF\u4E00-\u9FFF'::text || '\uAC00-\uD7AF\uF900-\uFAFF\U00020000-\U0003FFFF]+'::text);
END;

COMMENT ON FUNCTION ragpg._spaceless() IS 'The regular expression for a run of a script written without spaces: Thai, Lao, Burmese, Khmer, Japanese, Chinese; and Korean, whose particles stick to words.';

CREATE FUNCTION ragpg._letters(p_text text) RETURNS TABLE(place bigint, pair text, alone text, single text, is_first boolean)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT item.place,
         CASE
             WHEN (item.next <> ' '::text) THEN (item.letter || item.next)
             ELSE NULL::text
         END AS pair,
         CASE
             WHEN ((item.previous = ' '::text) AND (item.next = ' '::text)) THEN letter.marked
             ELSE NULL::text
         END AS alone,
         CASE
             WHEN (letter.marked <> item.letter) THEN letter.marked
             ELSE NULL::text
         END AS single,
     (item.previous = ' '::text) AS is_first
    FROM ((( SELECT string_to_array(regexp_replace(_letters.p_text, ('[^'::text || substr(ragpg._spaceless(), 2)), ' '::text, 'g'::text), NULL::text) AS letters) run
      CROSS JOIN LATERAL UNNEST((' '::text || run.letters), run.letters, (run.letters[2:] || ' '::text)) WITH ORDINALITY item(previous, letter, next, place))
      CROSS JOIN LATERAL ( SELECT
                 CASE
                     WHEN (item.letter < ('　'::text COLLATE "C")) THEN item.letter
                     ELSE ('^'::text || item.letter)
                 END AS marked) letter)
   WHERE (item.letter <> ' '::text);
END;

COMMENT ON FUNCTION ragpg._letters(p_text text) IS 'The characters of the runs of a text that are written without spaces: the pair that each begins, what stands for it where it is alone in its run, what stands for it anywhere (Chinese, Japanese and Korean only).';

CREATE FUNCTION ragpg._characters(p_text text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT (COALESCE(string_agg(concat_ws(' '::text, (((''''::text || COALESCE(letter.pair,
         CASE
             WHEN (letter.single IS NULL) THEN letter.alone
             ELSE NULL::text
         END)) || ''':'::text) || letter.place), ((''''::text || letter.single) || ''''::text)), ' '::text), ''::text))::tsvector AS "coalesce"
    FROM ragpg._letters(_characters.p_text) letter(place, pair, alone, single, is_first);
END;

COMMENT ON FUNCTION ragpg._characters(p_text text) IS 'The characters of a text''s runs without spaces (Chinese, Japanese, Korean, Thai, Lao, Burmese, Khmer) as lexemes: overlapping pairs at their places, and of the first three each character by itself, marked ^.';

CREATE FUNCTION ragpg._check_acl(p_acl text[]) RETURNS void
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if not ragpg._are_principals(p_acl) then
        raise exception using
            errcode = 'RG007',
            message = format('the ACL %s is not a list of principals', coalesce(p_acl::text, 'null')),
            hint = 'Give principals such as {user:ana,group:hr} or {public}; an empty list hides the document from everybody.';
    end if;
end;
$$;

COMMENT ON FUNCTION ragpg._check_acl(p_acl text[]) IS 'Refuses an ACL with empty principals or the wildcard. RG007.';

CREATE FUNCTION ragpg._check_dimensions(p_embeddings public.vector[], p_dimensions integer, p_index_version bigint) RETURNS void
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_given integer;
begin
    select ragpg._dimensions(item.embedding) into v_given
    from unnest(p_embeddings) as item (embedding)
    where item.embedding is not null and ragpg._dimensions(item.embedding) is distinct from p_dimensions
    limit 1;
    if found then
        raise exception using
            errcode = 'RG005',
            message = format(
                'a vector has %s dimensions, index version %s has %s', v_given, p_index_version, coalesce(p_dimensions::text, 'no vectors')
            ),
            hint = 'Embed with the model the collection remembers: select * from ragpg.index_version.';
    end if;
end;
$$;

COMMENT ON FUNCTION ragpg._check_dimensions(p_embeddings public.vector[], p_dimensions integer, p_index_version bigint) IS 'Refuses vectors whose length is not that of the index version. RG005.';

CREATE FUNCTION ragpg._check_embedding(p_scope ragpg._scope, p_embedding public.vector) RETURNS public.halfvec
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if p_embedding is null then
        return null;
    end if;
    if ragpg._dimensions(p_embedding) is distinct from p_scope.dimensions then
        raise exception using
            errcode = 'RG005',
            message = format(
                'the vector has %s dimensions, index version %s has %s',
                ragpg._dimensions(p_embedding), p_scope.index_version_id, coalesce(p_scope.dimensions::text, 'no vectors')
            ),
            hint = 'Embed with the model the collection remembers: select * from ragpg.index_version.';
    end if;
    if exists (select from unnest(p_embedding::real[]) as item (value) where abs(item.value) >= 65520) then
        raise exception using
            errcode = 'RG007', message = 'p_embedding holds a number that half precision can''t: the largest is 65504';
    end if;
    if ragpg._is_zero(ragpg._to_halfvec(p_embedding)) then
        raise exception using errcode = 'RG007', message = 'p_embedding is a vector of zeros, which has no direction';
    end if;
    return ragpg._to_halfvec(p_embedding);
end;
$$;

COMMENT ON FUNCTION ragpg._check_embedding(p_scope ragpg._scope, p_embedding public.vector) IS 'The query vector in half precision, after a check of its length. RG005, RG007.';

CREATE FUNCTION ragpg._check_mode(p_mode text) RETURNS void
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if p_mode is null or p_mode not in ('hybrid', 'keyword', 'vector') then
        raise exception using
            errcode = 'RG007', message = format('p_mode is %L; it must be hybrid, keyword or vector', p_mode);
    end if;
end;
$$;

COMMENT ON FUNCTION ragpg._check_mode(p_mode text) IS 'Refuses an unknown mode. RG007.';

CREATE FUNCTION ragpg._check_paging(p_k integer, p_candidate_k integer, p_rrf_k integer) RETURNS void
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if p_k is null or p_k not between 1 and 1000 then
        raise exception using errcode = 'RG007', message = format('p_k is %s; it must be from 1 to 1000', coalesce(p_k::text, 'null'));
    end if;
    if p_candidate_k is null or p_candidate_k not between 1 and 1000 then
        raise exception using
            errcode = 'RG007', message = format('p_candidate_k is %s; it must be from 1 to 1000', coalesce(p_candidate_k::text, 'null'));
    end if;
    if p_rrf_k is null or p_rrf_k not between 0 and 1000000 then
        raise exception using errcode = 'RG007', message = format('p_rrf_k is %s; it must be from 0 to 1000000', coalesce(p_rrf_k::text, 'null'));
    end if;
end;
$$;

COMMENT ON FUNCTION ragpg._check_paging(p_k integer, p_candidate_k integer, p_rrf_k integer) IS 'Refuses numbers of results and candidates that make no sense. RG007.';

CREATE FUNCTION ragpg._check_weights(p_vector_weight double precision, p_keyword_weight double precision) RETURNS void
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if not coalesce(
        -- a smaller number divided by a rank is no number any more
        (p_vector_weight = 0 or p_vector_weight >= 1e-100) and (p_keyword_weight = 0 or p_keyword_weight >= 1e-100)
        and p_vector_weight + p_keyword_weight > 0
        and p_vector_weight <= 1000000 and p_keyword_weight <= 1000000,
        false
    ) then
        raise exception using
            errcode = 'RG007',
            message = format('the weights are %s and %s', coalesce(p_vector_weight::text, 'null'), coalesce(p_keyword_weight::text, 'null')),
            hint = 'p_vector_weight and p_keyword_weight are 0 or from 1e-100 to 1000000, and not both 0.';
    end if;
end;
$$;

COMMENT ON FUNCTION ragpg._check_weights(p_vector_weight double precision, p_keyword_weight double precision) IS 'Refuses weights that make no ranking. RG007.';

CREATE FUNCTION ragpg._uuid8(p_digest bytea) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT (encode(set_byte(set_byte(substr(p_digest, 1, 16), 6, ((get_byte(p_digest, 6) & 15) | 128)), 8, ((get_byte(p_digest, 8) & 63) | 128)), 'hex'::text))::uuid AS encode;
END;

COMMENT ON FUNCTION ragpg._uuid8(p_digest bytea) IS 'The first 16 bytes of a digest as a UUID of version 8 (RFC 9562, section 5.8: name-based on SHA-256).';

CREATE FUNCTION ragpg._chunk_id(p_document_id uuid, p_content text, p_occurrence integer) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT ragpg._uuid8(sha256(((uuid_send(p_document_id) || sha256(convert_to(p_content, 'UTF8'::name))) || int4send(p_occurrence)))) AS _uuid8;
END;

COMMENT ON FUNCTION ragpg._chunk_id(p_document_id uuid, p_content text, p_occurrence integer) IS 'The id of a chunk, from its document, its text and how many chunks of the same text come before it. An unchanged chunk keeps its id.';

CREATE FUNCTION ragpg._chunk_join(p_scope ragpg._scope) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
begin
    if num_nonnulls(p_scope.chunk_filter, p_scope.phrases, p_scope.exclusions) = 0 then
        -- every parameter has to be in the text, so that its type is known
        return 'join (select) as every_chunk on $8 is null and $9 is null and $10 is null';
    end if;
    return 'join ragpg.chunk on chunk.index_version_id = $2 and chunk.document_id = embedding.document_id'
        ' and chunk.id = embedding.chunk_id and ($8 is null or chunk.metadata @@ $8)'
        ' and ($9 is null or chunk.content_tsv @@ $9) and ($10 is null or not chunk.content_tsv @@ $10)';
end;
$_$;

COMMENT ON FUNCTION ragpg._chunk_join(p_scope ragpg._scope) IS 'The join that holds the conditions on chunks ($8 to $10), where there are any.';

CREATE TABLE ragpg.chunk (
    index_version_id bigint NOT NULL,
    document_id uuid NOT NULL,
    id uuid NOT NULL,
    ordinal integer NOT NULL,
    content text NOT NULL,
    heading text DEFAULT ''::text NOT NULL,
    section_path text[] DEFAULT '{}'::text[] NOT NULL,
    kind text DEFAULT 'text'::text NOT NULL,
    char_start integer NOT NULL,
    char_end integer NOT NULL,
    parent_start integer,
    parent_end integer,
    page_start integer,
    page_end integer,
    token_count integer,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    content_tsv tsvector NOT NULL,
    lexeme_count integer NOT NULL,
    written_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT ck_chunk_kind CHECK ((kind = ANY (ARRAY['text'::text, 'table'::text, 'code'::text])))
)
PARTITION BY LIST (index_version_id);
ALTER TABLE ONLY ragpg.chunk ALTER COLUMN content_tsv SET STORAGE MAIN;

COMMENT ON TABLE ragpg.chunk IS 'A piece of a document as one index version cut it; one partition per index version.';

COMMENT ON COLUMN ragpg.chunk.index_version_id IS 'The index version that cut it; partition key.';

COMMENT ON COLUMN ragpg.chunk.document_id IS 'The document it is a piece of.';

COMMENT ON COLUMN ragpg.chunk.id IS 'UUIDv8 of document, content hash and repetition: an unchanged chunk keeps its id.';

COMMENT ON COLUMN ragpg.chunk.ordinal IS 'Position in the document, from 0.';

COMMENT ON COLUMN ragpg.chunk.content IS 'Its text: document.content from char_start to char_end.';

COMMENT ON COLUMN ragpg.chunk.heading IS 'Path of headings above it; embedded and indexed with the content.';

COMMENT ON COLUMN ragpg.chunk.section_path IS 'The headings as an array.';

COMMENT ON COLUMN ragpg.chunk.kind IS 'text, table or code.';

COMMENT ON COLUMN ragpg.chunk.char_start IS 'First character in document.content, from 0.';

COMMENT ON COLUMN ragpg.chunk.char_end IS 'The character after the last one.';

COMMENT ON COLUMN ragpg.chunk.parent_start IS 'First character of the parent (section) in document.content.';

COMMENT ON COLUMN ragpg.chunk.parent_end IS 'The character after the parent''s last one.';

COMMENT ON COLUMN ragpg.chunk.page_start IS 'First page, from 1, where the format has pages.';

COMMENT ON COLUMN ragpg.chunk.page_end IS 'Last page, where the format has pages.';

COMMENT ON COLUMN ragpg.chunk.token_count IS 'Number of tokens as the chunker counted them, heading included.';

COMMENT ON COLUMN ragpg.chunk.metadata IS 'Free attributes for jsonpath filters (p_chunk_filter).';

COMMENT ON COLUMN ragpg.chunk.content_tsv IS 'Heading and content, analysed.';

COMMENT ON COLUMN ragpg.chunk.lexeme_count IS 'Length for BM25: number of lexeme positions.';

COMMENT ON COLUMN ragpg.chunk.written_at IS 'When the row was last written; newer than the statistics horizon: not in them.';

CREATE FUNCTION ragpg._chunk_rows(p_index_version bigint, p_document_id uuid, p_content text, p_title text, p_chunks jsonb) RETURNS ragpg.chunk[]
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_length constant integer := length(p_content);
    v_bad jsonb;
begin
    if p_chunks is null then
        return null;
    end if;
    if jsonb_typeof(p_chunks) <> 'array' then
        raise exception using errcode = 'RG007', message = 'p_chunks is not a JSON array';
    end if;
    select item.value into v_bad
    from jsonb_array_elements(p_chunks) as item
    where not ragpg._is_chunk(item.value, v_length)
    limit 1;
    if found then
        raise exception using
            errcode = 'RG007',
            message = format('a chunk of p_chunks is not usable: %s', v_bad),
            hint = format(
                '0 <= char_start < char_end <= %s; parent_start and parent_end around them; kind text, table or code;'
                ' metadata an object.',
                v_length
            );
    end if;
    return array(
        select
            row(
                p_index_version,
                p_document_id,
                ragpg._chunk_id(
                    p_document_id, cut.content,
                    (row_number() over (partition by cut.content order by cut.place) - 1)::integer
                ),
                cut.place - 1,
                cut.content,
                coalesce(cut.value ->> 'heading', p_title),
                array(select * from jsonb_array_elements_text(coalesce(nullif(cut.value -> 'section_path', 'null'), '[]'))),
                coalesce(cut.value ->> 'kind', 'text'),
                (cut.value ->> 'char_start')::numeric::integer,
                (cut.value ->> 'char_end')::numeric::integer,
                (cut.value ->> 'parent_start')::numeric::integer,
                (cut.value ->> 'parent_end')::numeric::integer,
                (cut.value ->> 'page_start')::numeric::integer,
                (cut.value ->> 'page_end')::numeric::integer,
                (cut.value ->> 'token_count')::numeric::integer,
                coalesce(nullif(cut.value -> 'metadata', 'null'), '{}'),
                null,
                null,
                null
            )::ragpg.chunk
        from ragpg._cut(p_content, p_chunks) as cut
        order by cut.place
    );
end;
$$;

COMMENT ON FUNCTION ragpg._chunk_rows(p_index_version bigint, p_document_id uuid, p_content text, p_title text, p_chunks jsonb) IS 'p_chunks as rows of ragpg.chunk, text cut from the content and ids computed; not analysed yet. RG007.';

CREATE FUNCTION ragpg._chunk_states(p_collection text, p_document_id uuid, p_index_version bigint DEFAULT NULL::bigint) RETURNS TABLE(chunk_id uuid, content_hash bytea, heading text, has_embedding boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    v_version record := ragpg._index_version(p_collection, p_index_version);
begin
    return query
    select
        chunk.id, sha256(convert_to(chunk.content, 'UTF8')), chunk.heading,
        exists (
            select from ragpg.embedding
            where
                embedding.index_version_id = chunk.index_version_id
                and embedding.document_id = chunk.document_id
                and embedding.chunk_id = chunk.id
        )
    from ragpg.chunk
    join ragpg.document on document.id = chunk.document_id
    where
        chunk.index_version_id = v_version.index_version_id
        and chunk.document_id = p_document_id
        and document.collection_id = v_version.collection_id;
end;
$$;

COMMENT ON FUNCTION ragpg._chunk_states(p_collection text, p_document_id uuid, p_index_version bigint) IS 'The stored chunks of a document: a chunk with the same id and heading needs no new vector. RG001, RG004.';

CREATE FUNCTION ragpg._config_name(p_name name, p_schema name) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT
         CASE p_schema
             WHEN 'pg_catalog'::name THEN quote_ident((p_name)::text)
             ELSE ((quote_ident((p_schema)::text) || '.'::text) || quote_ident((p_name)::text))
         END AS "case";
END;

COMMENT ON FUNCTION ragpg._config_name(p_name name, p_schema name) IS 'How a text-search configuration is written in document.language.';

CREATE FUNCTION ragpg._configs(p_scope ragpg._scope) RETURNS text[]
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    v_languages text[];
begin
    -- one index probe a language, however many documents there are
    v_languages := array(
        with recursive step (language) as (
            (
                select document.language from ragpg.document
                where document.collection_id = p_scope.collection_id
                order by document.language
                limit 1
            )
            union all
            select (
                select document.language from ragpg.document
                where document.collection_id = p_scope.collection_id and document.language > step.language
                order by document.language
                limit 1
            )
            from step
            where step.language is not null
        )

        select step.language from step where step.language is not null
    );
    -- a language of hidden documents alone would stem the query's words in one more way, and find other chunks with them. Where
    -- there is but one language, a caller who sees nothing in it finds nothing with it.
    if cardinality(v_languages) > 1 then
        v_languages := array(
            select item.language from unnest(v_languages) as item (language)
            where ragpg._sees_language(p_scope, array[item.language])
        );
    end if;
    return v_languages;
end;
$$;

COMMENT ON FUNCTION ragpg._configs(p_scope ragpg._scope) IS 'The text-search configurations of the documents that the caller may see; of a collection in one language, that one.';

CREATE FUNCTION ragpg._corpus_counts(p_scope ragpg._scope) RETURNS ragpg._terms
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    SET jit TO 'off'
    AS $$
declare
    -- under this many chunks every number is counted live, so that a score equals the formula exactly
    v_live_limit constant integer := 10000;
    v_total bigint;
    v_estimate bigint;
    v_terms ragpg._terms;
begin
    v_terms.degraded := '{}';
    if p_scope.chunk_count is null or p_scope.chunk_count <= 2 * v_live_limit then
        select count(*), sum(sample.lexeme_count)
        into v_terms.chunk_count, v_total
        from (
            select chunk.lexeme_count
            from ragpg.chunk
            where chunk.index_version_id = p_scope.index_version_id
            limit v_live_limit + 1
        ) as sample;
    end if;
    if v_terms.chunk_count <= v_live_limit then
        v_terms.average_length := greatest(v_total::double precision / greatest(v_terms.chunk_count, 1), 1);
        v_terms.every_match := true;
    elsif p_scope.chunk_count > v_live_limit then
        v_estimate := ragpg._estimated_chunks(p_scope.index_version_id);
        v_terms.chunk_count := p_scope.chunk_count;
        if v_estimate > 1.5 * p_scope.chunk_count then
            v_terms.chunk_count := v_estimate;
            v_terms.degraded := array['stale_statistics'];
        end if;
        v_terms.average_length := p_scope.average_length;
        v_terms.every_match := false;
    else
        -- large, and not analysed since it became so: correct, but every match has to be scored
        v_terms.degraded := array['stale_statistics'];
        v_terms.every_match := true;
        select count(*), greatest(avg(chunk.lexeme_count), 1)
        into v_terms.chunk_count, v_terms.average_length
        from ragpg.chunk
        where chunk.index_version_id = p_scope.index_version_id;
    end if;
    if v_terms.degraded <> '{}' and not ragpg._may_choose_principals() then
        -- how many chunks there are is not for a reader to know
        v_terms.degraded := '{}';
    end if;
    return v_terms;
end;
$$;

COMMENT ON FUNCTION ragpg._corpus_counts(p_scope ragpg._scope) IS 'How many chunks the index version has and how long they are on average: counted live while small, from the statistics when large (stale_statistics where the collection has outgrown them).';

CREATE FUNCTION ragpg._cosine_distance(p_left public.halfvec, p_right public.halfvec) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT (p_left OPERATOR(public.<=>) p_right);
END;

COMMENT ON FUNCTION ragpg._cosine_distance(p_left public.halfvec, p_right public.halfvec) IS '1 − cosine similarity; 0 is the same direction, lower is better.';

CREATE FUNCTION ragpg._count_visible(p_scope ragpg._scope, p_cap integer) RETURNS integer
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    SET jit TO 'off'
    AS $$
begin
    return (
        select count(*)
        from (
            select 1
            from ragpg.document
            join ragpg.chunk on chunk.document_id = document.id
            where
                chunk.index_version_id = p_scope.index_version_id
                and document.collection_id = p_scope.collection_id and document.tenant_id = p_scope.tenant_id
                and (p_scope.every_document or document.acl && p_scope.principals)
                and (document.expires_at is null or document.expires_at > now())
                and (p_scope.filter is null or document.metadata @@ p_scope.filter)
                and (p_scope.chunk_filter is null or chunk.metadata @@ p_scope.chunk_filter)
                and (p_scope.phrases is null or chunk.content_tsv @@ p_scope.phrases)
                and (p_scope.exclusions is null or not chunk.content_tsv @@ p_scope.exclusions)
            limit p_cap
        ) as visible
    );
end;
$$;

COMMENT ON FUNCTION ragpg._count_visible(p_scope ragpg._scope, p_cap integer) IS 'How many chunks the caller may see through the filters, counted up to p_cap.';

CREATE FUNCTION ragpg._current_principals() RETURNS text[]
    LANGUAGE plpgsql STABLE SECURITY DEFINER PARALLEL RESTRICTED
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_setting constant text[] := ragpg._setting_principals();
    v_tenant_id text;
begin
    if not ragpg._is_bound() then
        return array(select unnest(coalesce(v_setting, '{}') || array['public']) as name group by name order by name);
    end if;
    -- the same name means somebody else in another tenant
    v_tenant_id := ragpg._current_tenant_id();
    return array(
        select principal.name
        from ragpg._bindings() as binding
        cross join lateral unnest(binding.principals) as principal (name)
        where binding.tenant_id = v_tenant_id and (v_setting is null or principal.name = any (v_setting))
        union
        select 'public'
        order by 1
    );
end;
$$;

COMMENT ON FUNCTION ragpg._current_principals() IS 'The principals of the session: setting ragpg.principals, and always public. Of a bound role: those it is bound to in the session''s tenant, and of these only the ones in the setting where one is set. RG007.';

CREATE FUNCTION ragpg._current_tenant_id() RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER PARALLEL RESTRICTED
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_setting constant text := coalesce(current_setting('ragpg.tenant_id', true), '');
    v_bound text[];
begin
    if not ragpg._is_bound() then
        return v_setting;
    end if;
    v_bound := array(select distinct binding.tenant_id from ragpg._bindings() as binding);
    return case
        when v_setting = any (v_bound) then v_setting
        -- a setting that was reset is empty, so that an empty one says nothing
        when v_setting = '' and cardinality(v_bound) = 1 then v_bound[1]
    end;
end;
$$;

COMMENT ON FUNCTION ragpg._current_tenant_id() IS 'The tenant of the session: setting ragpg.tenant_id, else the default tenant (the empty string). Of a bound role: its own; null where the setting names none of its tenants.';

CREATE FUNCTION ragpg._cut(p_content text, p_chunks jsonb) RETURNS TABLE(place bigint, value jsonb, content text)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_nestloop TO 'off'
    AS $$
declare
    v_page constant integer := 10000;
    v_pages constant integer := 20;
begin
    -- substr counts characters from the start every time: in a text of megabytes thousands of ranges are cut out of pages, and the
    -- pages out of blocks
    return query
    with block as materialized (
        select series.number, substr(p_content, series.number * v_page * v_pages + 1, v_page * v_pages) as text
        from generate_series(0, length(p_content) / (v_page * v_pages)) as series (number)
    ),

    page as materialized (
        select block.number * v_pages + series.number as number, substr(block.text, series.number * v_page + 1, v_page) as text
        from block
        cross join generate_series(0, v_pages - 1) as series (number)
    ),

    piece as (
        select
            item.place,
            item.value,
            (item.value ->> 'char_start')::numeric::integer as char_start,
            (item.value ->> 'char_end')::numeric::integer as char_end
        from jsonb_array_elements(p_chunks) with ordinality as item (value, place)
    )

    select
        piece.place,
        piece.value,
        substr(
            string_agg(page.text, '' order by page.number),
            piece.char_start % v_page + 1,
            piece.char_end - piece.char_start
        )
    from piece
    cross join lateral generate_series(piece.char_start / v_page, (piece.char_end - 1) / v_page) as touched (number)
    join page on page.number = touched.number
    group by piece.place, piece.value, piece.char_start, piece.char_end;
end;
$$;

COMMENT ON FUNCTION ragpg._cut(p_content text, p_chunks jsonb) IS 'The text of every range of p_chunks, in any number and over a text of any length.';

CREATE FUNCTION ragpg._dimensions(p_embedding public.vector) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT public.vector_dims(p_embedding) AS vector_dims;
END;

COMMENT ON FUNCTION ragpg._dimensions(p_embedding public.vector) IS 'The number of dimensions of a vector.';

CREATE FUNCTION ragpg._distances(p_scope ragpg._scope, p_embedding public.halfvec, p_document_ids uuid[], p_chunk_ids uuid[]) RETURNS double precision[]
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
begin
    return (
        select array_agg(ragpg._cosine_distance(embedding.embedding, p_embedding) order by item.place)
        from unnest(p_document_ids, p_chunk_ids) with ordinality as item (document_id, chunk_id, place)
        left join ragpg.embedding
            on
                embedding.index_version_id = p_scope.index_version_id
                and embedding.document_id = item.document_id
                and embedding.chunk_id = item.chunk_id
    );
end;
$$;

COMMENT ON FUNCTION ragpg._distances(p_scope ragpg._scope, p_embedding public.halfvec, p_document_ids uuid[], p_chunk_ids uuid[]) IS 'The cosine distances of the given chunks, in their order; null for one without a vector.';

CREATE FUNCTION ragpg._document_card(p_scope ragpg._scope, p_document_id uuid) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
begin
    return (
        select jsonb_build_object(
            'document_id', document.id,
            'title', document.title,
            'acl', document.acl,
            'expires_at', document.expires_at,
            'indexed_at', document.indexed_at,
            'chunks', counted.chunks,
            'passing_chunks', cardinality(ragpg._passing_chunks(p_scope, p_document_id)),
            'embeddings', counted.embeddings
        )
        from ragpg.document
        cross join lateral (
            select count(*) as chunks, count(embedding.chunk_id) as embeddings
            from ragpg.chunk
            left join ragpg.embedding
                on
                    embedding.index_version_id = chunk.index_version_id
                    and embedding.document_id = chunk.document_id
                    and embedding.chunk_id = chunk.id
            where chunk.index_version_id = p_scope.index_version_id and chunk.document_id = document.id
        ) as counted
        where document.id = p_document_id
    );
end;
$$;

COMMENT ON FUNCTION ragpg._document_card(p_scope ragpg._scope, p_document_id uuid) IS 'What the database holds of a document: who may read it, until when, how many chunks and vectors in this index version.';

CREATE FUNCTION ragpg._document_frequency(p_scope ragpg._scope, p_lexeme tsquery) RETURNS bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    SET jit TO 'off'
    AS $$
begin
    if p_scope.idf = 'visible' then
        return (
            select count(*)
            from ragpg.document
            join ragpg.chunk on chunk.document_id = document.id
            where
                chunk.index_version_id = p_scope.index_version_id and chunk.content_tsv @@ p_lexeme
                and document.collection_id = p_scope.collection_id and document.tenant_id = p_scope.tenant_id
                and (p_scope.every_document or document.acl && p_scope.principals)
                and (document.expires_at is null or document.expires_at > now())
        );
    end if;
    return (
        select count(*) from ragpg.chunk
        where chunk.index_version_id = p_scope.index_version_id and chunk.content_tsv @@ p_lexeme
    );
end;
$$;

COMMENT ON FUNCTION ragpg._document_frequency(p_scope ragpg._scope, p_lexeme tsquery) IS 'How many chunks hold the lexeme: of the whole index version, or with idf visible of those that the caller''s permissions show.';

CREATE FUNCTION ragpg._document_id(p_collection text, p_tenant_id text, p_external_id text) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT ragpg._uuid8(sha256(((((convert_to(p_collection, 'UTF8'::name) || '\x00'::bytea) || convert_to(p_tenant_id, 'UTF8'::name)) || '\x00'::bytea) || convert_to(p_external_id, 'UTF8'::name)))) AS _uuid8;
END;

COMMENT ON FUNCTION ragpg._document_id(p_collection text, p_tenant_id text, p_external_id text) IS 'The id of a document, from its collection''s name, its tenant and its external id.';

CREATE FUNCTION ragpg._document_states(p_collection text, p_external_ids text[], p_tenant_id text DEFAULT NULL::text, p_index_version bigint DEFAULT NULL::bigint) RETURNS TABLE(external_id text, document_id uuid, content_hash bytea, title text, uri text, media_type text, language text, metadata jsonb, acl text[], expires_at timestamp with time zone, chunk_count integer, pending integer)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    v_version record := ragpg._index_version(p_collection, p_index_version);
    v_tenant_id constant text := coalesce(p_tenant_id, ragpg._current_tenant_id());
begin
    return query
    select
        document.external_id, document.id, document.content_hash, document.title, document.uri, document.media_type,
        document.language, document.metadata, document.acl, document.expires_at,
        counted.chunks::integer,
        case when v_version.dimensions is null then 0 else (counted.chunks - counted.embeddings)::integer end
    from unnest(p_external_ids) as wanted (external_id)
    join ragpg.document on document.id = ragpg._document_id(p_collection, v_tenant_id, wanted.external_id)
    cross join lateral (
        select count(*) as chunks, count(embedding.chunk_id) as embeddings
        from ragpg.chunk
        left join ragpg.embedding
            on
                embedding.index_version_id = chunk.index_version_id
                and embedding.document_id = chunk.document_id
                and embedding.chunk_id = chunk.id
        where chunk.index_version_id = v_version.index_version_id and chunk.document_id = document.id
    ) as counted;
end;
$$;

COMMENT ON FUNCTION ragpg._document_states(p_collection text, p_external_ids text[], p_tenant_id text, p_index_version bigint) IS 'The stored state of the given documents: hashes and attributes to compare, chunks, and how many of them wait for a vector. RG001, RG004.';

CREATE FUNCTION ragpg._drop_partitions(p_index_version bigint) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    execute format('drop table ragpg.%I', 'embedding_v' || p_index_version);
    -- the embeddings' foreign key refers to the whole table: a partition has to leave it before it can be dropped
    execute format('alter table ragpg.chunk detach partition ragpg.%I', 'chunk_v' || p_index_version);
    execute format('drop table ragpg.%I', 'chunk_v' || p_index_version);
end;
$$;

COMMENT ON FUNCTION ragpg._drop_partitions(p_index_version bigint) IS 'Drops the two partitions of an index version.';

CREATE FUNCTION ragpg._estimated_chunks(p_index_version bigint) RETURNS bigint
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT (class.reltuples)::bigint AS reltuples
    FROM pg_class class
   WHERE (class.oid = (to_regclass(format('ragpg.%I'::text, ('chunk_v'::text || _estimated_chunks.p_index_version))))::oid);
END;

COMMENT ON FUNCTION ragpg._estimated_chunks(p_index_version bigint) IS 'About how many chunks an index version has, as of the last VACUUM or ANALYZE; −1 where there was none yet.';

CREATE FUNCTION ragpg._excluded() RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT '(?:^|(?<=\s))-("[^"]+"|[^\s"-][^\s"]*)'::text AS characters;
END;

COMMENT ON FUNCTION ragpg._excluded() IS 'The regular expression for a -word or a -"phrase" of a query; its group is what is excluded.';

CREATE FUNCTION ragpg._existing_configs(p_languages text[]) RETURNS text[]
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    -- over the catalogue only: its plan may be kept
    return array(
        select ragpg._config_name(config.cfgname, namespace.nspname)
        from pg_ts_config as config
        join pg_namespace as namespace on namespace.oid = config.cfgnamespace
        where ragpg._config_name(config.cfgname, namespace.nspname) = any (p_languages)
    );
end;
$$;

COMMENT ON FUNCTION ragpg._existing_configs(p_languages text[]) IS 'Those of the text-search configurations that still exist.';

CREATE FUNCTION ragpg._expansion(p_expand text, OUT o_mode text, OUT o_neighbors integer) RETURNS record
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
begin
    o_mode := coalesce(split_part(p_expand, ':', 1), 'none');
    o_neighbors := 0;
    if p_expand ~ '^neighbors:[0-9]{1,3}$' then
        o_neighbors := split_part(p_expand, ':', 2)::integer;
    elsif p_expand is not null and p_expand not in ('parent', 'document') then
        raise exception using
            errcode = 'RG007',
            message = format('p_expand is %L; it must be parent, neighbors:n or document', p_expand);
    end if;
end;
$_$;

COMMENT ON FUNCTION ragpg._expansion(p_expand text, OUT o_mode text, OUT o_neighbors integer) IS 'p_expand taken apart. RG007.';

CREATE FUNCTION ragpg._external_ids(p_collection text, p_prefix_uri text DEFAULT NULL::text, p_tenant_id text DEFAULT NULL::text) RETURNS SETOF text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    v_version record := ragpg._index_version(p_collection);
begin
    return query
    select document.external_id
    from ragpg.document
    where
        document.collection_id = v_version.collection_id
        and document.tenant_id = coalesce(p_tenant_id, ragpg._current_tenant_id())
        and (p_prefix_uri is null or starts_with(document.uri, p_prefix_uri))
    order by document.external_id;
end;
$$;

COMMENT ON FUNCTION ragpg._external_ids(p_collection text, p_prefix_uri text, p_tenant_id text) IS 'The external ids of a tenant''s documents, of those whose URI starts with the prefix if one is given. RG001.';

CREATE FUNCTION ragpg._filters_failed(p_scope ragpg._scope, p_query text, p_document_id uuid) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $_$
declare
    v_scope ragpg._scope := p_scope;
    v_metadata jsonb;
    v_failed jsonb := '[]';
    v_part text;
    v_query record;
begin
    select document.metadata into v_metadata from ragpg.document where document.id = p_document_id;
    if (v_metadata @@ p_scope.filter) is not true and p_scope.filter is not null then
        v_failed := v_failed || jsonb_build_object(
            'cause', 'filtered', 'by', 'p_filter', 'condition', p_scope.filter::text, 'metadata', v_metadata
        );
    end if;
    if not exists (
        select from ragpg.chunk where chunk.index_version_id = p_scope.index_version_id and chunk.document_id = p_document_id
    ) or ragpg._passing_chunks(p_scope, p_document_id) <> '{}' then
        return v_failed;
    end if;

    -- no chunk passes them all: each condition on its own
    v_scope.phrases := null;
    v_scope.exclusions := null;
    if ragpg._passing_chunks(v_scope, p_document_id) = '{}' then
        v_failed := v_failed || jsonb_build_object(
            'cause', 'filtered', 'by', 'p_chunk_filter', 'condition', p_scope.chunk_filter::text
        );
    end if;
    v_scope.chunk_filter := null;
    for v_part in
        select found.part[1]
        from regexp_matches(p_query, '(' || ragpg._excluded() || '|"[^"]+")', 'g') as found (part)
    loop
        v_query := ragpg._parse_query(p_scope.configs, v_part);
        v_scope.phrases := v_query.o_phrases;
        v_scope.exclusions := v_query.o_exclusions;
        if ragpg._passing_chunks(v_scope, p_document_id) = '{}' then
            v_failed := v_failed || jsonb_build_object(
                'cause', 'filtered',
                'by', case when v_query.o_exclusions is null then 'phrase' else 'exclusion' end,
                'condition', v_part
            );
        end if;
    end loop;
    if not v_failed @? '$[*] ? (@.by != "p_filter")' then
        v_failed := v_failed || jsonb_build_object('cause', 'filtered', 'by', 'combination');
    end if;
    return v_failed;
end;
$_$;

COMMENT ON FUNCTION ragpg._filters_failed(p_scope ragpg._scope, p_query text, p_document_id uuid) IS 'The conditions that keep a document out of a search: p_filter, or those that none of its chunks meets; combination where each is met by some chunk, but all of them by none.';

CREATE FUNCTION ragpg._fold(p_text text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

COMMENT ON FUNCTION ragpg._fold(p_text text) IS 'The text with Latin and Greek letters stripped of their accents (Müller: Muller, Straße: Strasse, Łódź: Lodz). Other scripts stay, but for ё and stress marks.';

CREATE FUNCTION ragpg._fuse(p_scope ragpg._scope, p_terms ragpg._terms, p_embedding public.halfvec, p_keyword ragpg._leg, p_vector ragpg._leg, p_fusion text, p_rrf_k integer, p_vector_weight double precision, p_keyword_weight double precision) RETURNS ragpg._ranking
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    v_ranking ragpg._ranking;
begin
    if p_fusion in ('keyword', 'vector') then
        return ragpg._single_leg(case p_fusion when 'keyword' then p_keyword else p_vector end, p_fusion);
    end if;
    select
        array_agg(coalesce(keyword.document_id, vector.document_id) order by keyword.rank, vector.rank),
        array_agg(coalesce(keyword.chunk_id, vector.chunk_id) order by keyword.rank, vector.rank),
        array_agg(keyword.rank::integer order by keyword.rank, vector.rank),
        array_agg(keyword.score order by keyword.rank, vector.rank),
        array_agg(vector.rank::integer order by keyword.rank, vector.rank),
        array_agg(vector.score order by keyword.rank, vector.rank)
    into
        v_ranking.document_ids, v_ranking.chunk_ids, v_ranking.keyword_ranks, v_ranking.keyword_scores,
        v_ranking.vector_ranks, v_ranking.vector_distances
    from unnest(p_keyword.document_ids, p_keyword.chunk_ids, p_keyword.scores)
        with ordinality as keyword (document_id, chunk_id, score, rank)
    full join unnest(p_vector.document_ids, p_vector.chunk_ids, p_vector.scores)
        with ordinality as vector (document_id, chunk_id, score, rank)
        on vector.document_id = keyword.document_id and vector.chunk_id = keyword.chunk_id;

    if p_fusion = 'score' and p_embedding is not null and v_ranking.chunk_ids is not null then
        -- both true scores for every candidate: a leg that did not return a chunk still has an opinion of it
        v_ranking.keyword_scores := ragpg._keyword_scores(p_scope, p_terms, v_ranking.document_ids, v_ranking.chunk_ids);
        v_ranking.vector_distances := array_replace(
            -- a stored vector of zeros has no direction
            ragpg._distances(p_scope, p_embedding, v_ranking.document_ids, v_ranking.chunk_ids), 'NaN', null
        );
    end if;

    select
        array_agg(fused.document_id order by fused.score desc, fused.chunk_id),
        array_agg(fused.chunk_id order by fused.score desc, fused.chunk_id),
        array_agg(fused.score order by fused.score desc, fused.chunk_id),
        array_agg(fused.vector_rank order by fused.score desc, fused.chunk_id),
        array_agg(fused.vector_distance order by fused.score desc, fused.chunk_id),
        array_agg(fused.keyword_rank order by fused.score desc, fused.chunk_id),
        array_agg(fused.keyword_score order by fused.score desc, fused.chunk_id)
    into
        v_ranking.document_ids, v_ranking.chunk_ids, v_ranking.scores, v_ranking.vector_ranks,
        v_ranking.vector_distances, v_ranking.keyword_ranks, v_ranking.keyword_scores
    from (
        select
            item.*,
            case p_fusion
                -- reciprocal rank fusion: Cormack, Clarke and Büttcher, SIGIR 2009
                when 'rrf' then
                    coalesce(p_vector_weight / (p_rrf_k + item.vector_rank), 0)
                    + coalesce(p_keyword_weight / (p_rrf_k + item.keyword_rank), 0)
                else
                    p_vector_weight * coalesce(
                        (max(item.vector_distance) over () - item.vector_distance)
                        / nullif(max(item.vector_distance) over () - min(item.vector_distance) over (), 0),
                        0
                    )
                    + p_keyword_weight * coalesce(
                        (item.keyword_score - min(item.keyword_score) over ())
                        / nullif(max(item.keyword_score) over () - min(item.keyword_score) over (), 0),
                        0
                    )
            end as score
        from unnest(
            v_ranking.document_ids, v_ranking.chunk_ids, v_ranking.vector_ranks, v_ranking.vector_distances,
            v_ranking.keyword_ranks, v_ranking.keyword_scores
        ) as item (document_id, chunk_id, vector_rank, vector_distance, keyword_rank, keyword_score)
    ) as fused;
    return v_ranking;
end;
$$;

COMMENT ON FUNCTION ragpg._fuse(p_scope ragpg._scope, p_terms ragpg._terms, p_embedding public.halfvec, p_keyword ragpg._leg, p_vector ragpg._leg, p_fusion text, p_rrf_k integer, p_vector_weight double precision, p_keyword_weight double precision) IS 'Both legs as one ranking: rrf is Σ weight/(rrf_k + rank), score the weighted sum of both legs'' true scores, each scaled to 0…1 over the candidates. Ties go to the smaller chunk id.';

CREATE FUNCTION ragpg._hits(p_scope ragpg._scope, p_ranking ragpg._ranking, p_k integer, p_expand text) RETURNS SETOF ragpg.search_hit
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    v_expand record := ragpg._expansion(p_expand);
begin
    if v_expand.o_mode = 'none' then
        return query select hit.* from ragpg._plain_hits(p_scope, p_ranking, p_k) as hit;
        return;
    end if;
    -- several chunks of one parent are one hit, at the place of the best of them; so the parents are known before the page is cut
    return query
    with ranked as (
        select item.*
        from unnest(
            p_ranking.document_ids, p_ranking.chunk_ids, p_ranking.scores, p_ranking.vector_ranks, p_ranking.vector_distances,
            p_ranking.keyword_ranks, p_ranking.keyword_scores
        ) with ordinality as item (
            document_id, chunk_id, score, vector_rank, vector_distance, keyword_rank, keyword_score, place
        )
    ),

    ranged as (
        select
            ranked.*,
            chunk.heading,
            chunk.section_path,
            chunk.metadata as chunk_metadata,
            chunk.ordinal,
            case v_expand.o_mode
                when 'parent' then coalesce(chunk.parent_start, chunk.char_start)
                when 'document' then 0
                when 'neighbors' then coalesce(around.char_start, chunk.char_start)
                else chunk.char_start
            end as char_start,
            case v_expand.o_mode
                when 'parent' then coalesce(chunk.parent_end, chunk.char_end)
                when 'neighbors' then coalesce(around.char_end, chunk.char_end)
                else chunk.char_end
            end as char_end,
            coalesce(around.page_start, chunk.page_start) as page_start,
            coalesce(around.page_end, chunk.page_end) as page_end
        from ranked
        join ragpg.chunk
            on
                chunk.index_version_id = p_scope.index_version_id
                and chunk.document_id = ranked.document_id
                and chunk.id = ranked.chunk_id
        left join lateral (
            select
                min(near.char_start) as char_start,
                max(near.char_end) as char_end,
                min(near.page_start) as page_start,
                max(near.page_end) as page_end
            from ragpg.chunk as near
            where
                near.index_version_id = p_scope.index_version_id
                and near.document_id = ranked.document_id
                and case v_expand.o_mode
                    when 'neighbors' then near.ordinal between chunk.ordinal - v_expand.o_neighbors and chunk.ordinal + v_expand.o_neighbors
                    when 'parent' then
                        near.char_start < coalesce(chunk.parent_end, chunk.char_end)
                        and near.char_end > coalesce(chunk.parent_start, chunk.char_start)
                    else true
                end
        ) as around on true
    ),

    merged as (
        select distinct on (ranged.document_id, ranged.char_start)
            ranged.*
        from ranged
        order by
            ranged.document_id,
            ranged.char_start,
            ranged.place
    ),

    -- the page is cut before any text is: a long document is only opened for what is returned
    page as (
        select merged.* from merged
        order by merged.place
        limit p_k
    )

    select
        page.chunk_id,
        page.document_id,
        document.external_id,
        document.title,
        document.uri,
        case v_expand.o_mode
            when 'document' then document.content
            else substr(document.content, page.char_start + 1, page.char_end - page.char_start)
        end,
        page.heading,
        page.section_path,
        page.page_start,
        page.page_end,
        page.char_start,
        case v_expand.o_mode when 'document' then length(document.content) else page.char_end end,
        document.metadata || page.chunk_metadata,
        page.score,
        page.vector_rank,
        page.vector_distance,
        page.keyword_rank,
        page.keyword_score,
        p_ranking.degraded
    from page
    join ragpg.document on document.id = page.document_id
    order by page.place;
end;
$$;

COMMENT ON FUNCTION ragpg._hits(p_scope ragpg._scope, p_ranking ragpg._ranking, p_k integer, p_expand text) IS 'The first p_k of a ranking with their text, expanded to parents, neighbours or whole documents. RG007.';

CREATE FUNCTION ragpg._pictographs() RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT '[\u2600-\u27BF\U0001F000-\U0001FAFF]'::text AS characters;
END;

COMMENT ON FUNCTION ragpg._pictographs() IS 'The regular expression for an emoji or another pictograph.';

CREATE FUNCTION ragpg._identifiers(p_text text) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT COALESCE(array_agg(lower(ragpg._fold(name.text)) ORDER BY found.place, name.place), '{}'::text[]) AS "coalesce"
    FROM (( SELECT match.token[1] AS token,
             match.place
            FROM regexp_matches(_identifiers.p_text, ((('([[:alnum:]_]+(?:[-_./:@+#~&=?%\\]+[[:alnum:]_]+)+[+#]*|[[:alnum:]]+[+#]+|[[:alnum:]]*_+[[:alnum:]][[:alnum:]_]*'::text || '|[[:alnum:]]+_+|(?<![[:alnum:]])(?:\.|::)[[:alnum:]]+|'::text) || ragpg._pictographs()) || ')'::text), 'g'::text) WITH ORDINALITY match(token, place)) found
      CROSS JOIN LATERAL ( SELECT found.token AS text,
             0 AS place
         UNION ALL
          SELECT part.text,
             part.place
            FROM regexp_split_to_table(found.token, '[/\\:@&=?%~]+'::text) WITH ORDINALITY part(text, place)
           WHERE ((found.token ~ '[/\\:@&=?%~]'::text) AND (part.text ~ '[-_.+#]'::text) AND (part.text <> found.token))
         UNION ALL
          SELECT substr(found.token, 2) AS text,
             1 AS place
           WHERE (found.token ~ '^[vV][0-9]+[.]'::text)) name)
   WHERE (length(name.text) <= 255);
END;

COMMENT ON FUNCTION ragpg._identifiers(p_text text) IS 'The identifiers of a text (error codes, versions, paths, addresses, C++, snake_case, emojis), whole and in lower case, in order, each followed by those inside it (the host of a URL, the file of a path).';

CREATE FUNCTION ragpg._index_version(p_collection text, p_index_version bigint DEFAULT NULL::bigint, OUT collection_id bigint, OUT index_version_id bigint, OUT language text, OUT chunking jsonb, OUT embedding_provider text, OUT embedding_model text, OUT dimensions integer, OUT query_prefix text, OUT document_prefix text, OUT is_active boolean) RETURNS record
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    v_active bigint;
begin
    select collection.id, collection.language, collection.active_index_version_id
    into collection_id, language, v_active
    from ragpg.collection
    where collection.name = p_collection;
    if not found then
        raise exception using
            errcode = 'RG001',
            message = format('there is no collection %L', p_collection),
            hint = 'Names are case-sensitive; select name from ragpg.collection lists them, ragpg.create_collection makes one.';
    end if;
    index_version_id := coalesce(p_index_version, v_active);
    is_active := index_version_id = v_active;
    select
        version.chunking, version.embedding_provider, version.embedding_model, version.dimensions,
        version.query_prefix, version.document_prefix
    into chunking, embedding_provider, embedding_model, dimensions, query_prefix, document_prefix
    from ragpg.index_version as version
    where version.id = index_version_id and version.collection_id = _index_version.collection_id;
    if not found then
        raise exception using
            errcode = 'RG004',
            message = format('collection %L has no index version %s', p_collection, coalesce(index_version_id::text, 'that is active')),
            hint = 'select * from ragpg.index_version lists them.';
    end if;
end;
$$;

COMMENT ON FUNCTION ragpg._index_version(p_collection text, p_index_version bigint, OUT collection_id bigint, OUT index_version_id bigint, OUT language text, OUT chunking jsonb, OUT embedding_provider text, OUT embedding_model text, OUT dimensions integer, OUT query_prefix text, OUT document_prefix text, OUT is_active boolean) IS 'The collection and one of its index versions (the active one by default): chunking, embedding model, dimensions, prefixes. RG001, RG004.';

CREATE FUNCTION ragpg._may_set_principals() RETURNS boolean
    LANGUAGE sql STABLE PARALLEL RESTRICTED
    BEGIN ATOMIC
 SELECT has_function_privilege(ragpg._caller(), 'ragpg._may_set_principals()'::text, 'execute'::text) AS has_function_privilege;
END;

COMMENT ON FUNCTION ragpg._may_set_principals() IS 'True where the session''s settings alone say who the caller is: the owner and every role granted access without p_principals. Being allowed to execute this function is the grant itself.';

CREATE FUNCTION ragpg._is_bound() RETURNS boolean
    LANGUAGE sql STABLE PARALLEL RESTRICTED
    BEGIN ATOMIC
 SELECT (has_function_privilege(ragpg._caller(), 'ragpg._is_bound()'::text, 'execute'::text) AND (NOT ragpg._may_set_principals()));
END;

COMMENT ON FUNCTION ragpg._is_bound() IS 'True where the caller has the principals it is bound to, and no others. Being allowed to execute this function is the binding, unless another of the caller''s roles may set its principals.';

CREATE FUNCTION ragpg._is_chunk(p_chunk jsonb, p_length integer) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
    v_key text;
    v_given constant jsonb := case when jsonb_typeof(p_chunk) = 'object' then p_chunk end;
begin
    if v_given is null then
        return false;
    end if;
    foreach v_key in array array['char_start', 'char_end', 'parent_start', 'parent_end', 'page_start', 'page_end', 'token_count'] loop
        continue when coalesce(v_given -> v_key, 'null') = 'null';
        if jsonb_typeof(v_given -> v_key) <> 'number'
            or (v_given ->> v_key)::numeric not between 0 and 2147483647
            or (v_given ->> v_key)::numeric <> trunc((v_given ->> v_key)::numeric) then
            return false;
        end if;
    end loop;
    return coalesce(
        (v_given ->> 'char_start')::numeric < (v_given ->> 'char_end')::numeric
        and (v_given ->> 'char_end')::numeric <= p_length
        and num_nulls(v_given ->> 'parent_start', v_given ->> 'parent_end') <> 1
        and coalesce((v_given ->> 'parent_start')::numeric, 0) <= (v_given ->> 'char_start')::numeric
        and coalesce((v_given ->> 'parent_end')::numeric, p_length) between (v_given ->> 'char_end')::numeric and p_length
        and coalesce((v_given ->> 'page_start')::numeric, 1) >= 1
        and coalesce((v_given ->> 'page_end')::numeric >= (v_given ->> 'page_start')::numeric, true)
        and jsonb_typeof(coalesce(v_given -> 'heading', 'null')) in ('string', 'null')
        and coalesce(v_given -> 'kind', 'null') in ('null', '"text"', '"table"', '"code"')
        and jsonb_typeof(coalesce(v_given -> 'metadata', 'null')) in ('object', 'null')
        and (
            coalesce(v_given -> 'section_path', 'null') = 'null'
            or jsonb_typeof(v_given -> 'section_path') = 'array'
            and not jsonb_path_exists(v_given -> 'section_path', 'strict $[*] ? (@.type() != "string")')
        ),
        false
    );
end;
$_$;

COMMENT ON FUNCTION ragpg._is_chunk(p_chunk jsonb, p_length integer) IS 'True where an element of p_chunks is a range of a text of p_length characters, with attributes of the right kind.';

CREATE FUNCTION ragpg._is_same(p_left public.halfvec, p_right public.halfvec) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT (p_left OPERATOR(public.=) p_right);
END;

COMMENT ON FUNCTION ragpg._is_same(p_left public.halfvec, p_right public.halfvec) IS 'True where both vectors are equal in every dimension.';

CREATE FUNCTION ragpg._is_zero(p_embedding public.halfvec) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT (public.l2_norm(p_embedding) = (0)::double precision);
END;

COMMENT ON FUNCTION ragpg._is_zero(p_embedding public.halfvec) IS 'True for a vector of zeros, which has no direction and so no cosine.';

CREATE FUNCTION ragpg._keyword_leg(p_scope ragpg._scope, p_terms ragpg._terms, p_limit integer) RETURNS ragpg._leg
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    SET jit TO 'off'
    AS $$
declare
    v_count constant integer := coalesce(cardinality(p_terms.lexemes), 0);
    v_all constant tsquery := ragpg._any_of(p_terms.lexemes);
    v_candidates tsquery := v_all;
    v_every_match constant boolean := p_terms.every_match or p_scope.narrow_documents is not null;
    v_fresh boolean := false;
    v_path text := 'every match';
    v_used integer := 0;
    v_matches bigint := 0;
    v_threshold double precision;
    v_leg ragpg._leg;
begin
    if v_count = 0 then
        v_leg := row('{}', '{}', '{}', p_terms.degraded || 'keyword_empty'::text, jsonb_build_object('path', 'none', 'why', 'no word of the query occurs'));
        return v_leg;
    end if;
    if not v_every_match then
        v_fresh := p_scope.statistics_horizon is not null and exists (
            select from ragpg.chunk
            where chunk.index_version_id = p_scope.index_version_id and chunk.written_at >= p_scope.statistics_horizon
        );
        -- the rarest terms first, until the page is full: its last score is what any other chunk has to beat
        loop
            loop
                v_used := v_used + 1;
                v_matches := v_matches + p_terms.document_frequencies[v_used];
                exit when v_used = v_count or v_matches >= p_limit;
            end loop;
            exit when v_used = v_count;
            v_leg := ragpg._best_matches(p_scope, p_terms, ragpg._any_of(p_terms.lexemes[1:v_used]), false, p_limit);
            exit when cardinality(v_leg.scores) >= p_limit;
        end loop;
        if v_used < v_count then
            v_threshold := v_leg.scores[p_limit];
            if v_used + 1 < v_count then
                -- those of them, and of the next term's, that can reach it raise it at little cost (docs/decisions.md)
                v_candidates := ragpg._sets_reaching(p_terms.queries, p_terms.bounds, v_threshold * (1 - 1e-9));
                v_leg := ragpg._best_matches(
                    p_scope, p_terms, v_candidates && ragpg._any_of(p_terms.lexemes[1:v_used + 1]), false, p_limit
                );
                v_threshold := greatest(v_threshold, v_leg.scores[p_limit]);
            end if;
            v_candidates := ragpg._sets_reaching(p_terms.queries, p_terms.bounds, v_threshold * (1 - 1e-9));
            v_path := 'boolean threshold';
        end if;
    end if;
    if v_threshold is null or v_fresh or v_candidates <> ragpg._any_of(p_terms.lexemes[1:v_used]) then
        v_leg := ragpg._best_matches(p_scope, p_terms, v_candidates, v_fresh and v_candidates <> v_all, p_limit);
    end if;
    v_leg.document_ids := coalesce(v_leg.document_ids, '{}');
    v_leg.chunk_ids := coalesce(v_leg.chunk_ids, '{}');
    v_leg.scores := coalesce(v_leg.scores, '{}');
    v_leg.degraded := p_terms.degraded || case when v_leg.chunk_ids = '{}' then array['keyword_empty'] else '{}' end;
    v_leg.detail := jsonb_build_object(
        'path', v_path,
        'why', case
            when p_scope.narrow_documents is not null then 'few chunks are visible: each is looked at'
            when v_threshold is not null then 'only what can reach the score of the last place is scored'
            when p_terms.every_match then 'the collection is small, or was never analysed'
            else 'few chunks match'
        end,
        'candidates', cardinality(v_leg.chunk_ids),
        'threshold', v_threshold,
        'scored', v_candidates::text,
        'fresh_chunks', v_fresh
    );
    return v_leg;
end;
$$;

COMMENT ON FUNCTION ragpg._keyword_leg(p_scope ragpg._scope, p_terms ragpg._terms, p_limit integer) IS 'The best visible chunks by exact BM25. In a large collection only chunks that can reach the page are scored: those that hold a set of terms whose bounds add up to the score of the last place.';

CREATE FUNCTION ragpg._keyword_scores(p_scope ragpg._scope, p_terms ragpg._terms, p_document_ids uuid[], p_chunk_ids uuid[]) RETURNS double precision[]
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET jit TO 'off'
    AS $_$
declare
    v_scores double precision[];
begin
    if p_terms.lexemes is null then
        return array_fill(0::double precision, array[cardinality(p_chunk_ids)]);
    end if;
    execute
        'select array_agg(coalesce(scored.score, 0) order by scored.place) from ('
        '   select found.place, ' || ragpg._score_expression(cardinality(p_terms.lexemes)) || ' as score'
        '   from ('
        '     select item.place, chunk.content_tsv, $3 * (1 - $4 + $4 * chunk.lexeme_count / $5) as saturation'
        '     from unnest($7, $8) with ordinality as item (document_id, id, place)'
        '     left join ragpg.chunk on chunk.index_version_id = $6 and chunk.document_id = item.document_id and chunk.id = item.id'
        '     offset 0'
        '   ) as found'
        ' ) as scored'
    into v_scores
    using
        p_terms.weights, p_terms.queries, p_scope.bm25_k1, p_scope.bm25_b, p_terms.average_length,
        p_scope.index_version_id, p_document_ids, p_chunk_ids;
    return v_scores;
end;
$_$;

COMMENT ON FUNCTION ragpg._keyword_scores(p_scope ragpg._scope, p_terms ragpg._terms, p_document_ids uuid[], p_chunk_ids uuid[]) IS 'The BM25 scores of the given chunks, in their order; 0 for one that holds no term.';

CREATE FUNCTION ragpg._keyword_standing(p_ranking ragpg._ranking, p_query text, p_document_id uuid, p_chunk_ids uuid[], p_limit integer) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
    v_leg ragpg._leg;
    v_scores double precision[];
    v_standing record;
    v_words jsonb := ragpg._query_words((p_ranking).scope, (p_ranking).terms, p_query, p_document_id, p_chunk_ids);
    v_causes jsonb := '[]';
    v_body jsonb;
begin
    if (p_ranking).terms.lexemes is not null then
        v_leg := ragpg._best_matches(
            (p_ranking).scope, (p_ranking).terms, ragpg._any_of((p_ranking).terms.lexemes), false, 2147483647
        );
        -- a chunk without any of the words scores 0, and is not among the matches
        v_scores := array(
            select nullif(item.score, 0)
            from unnest(ragpg._keyword_scores(
                (p_ranking).scope, (p_ranking).terms, array_fill(p_document_id, array[cardinality(p_chunk_ids)]), p_chunk_ids
            )) with ordinality as item (score, place)
            order by item.place
        );
    end if;
    v_standing := ragpg._standing(v_leg, p_document_id, p_chunk_ids, v_scores, false, p_limit);
    v_body := jsonb_build_object(
        'rank', v_standing.o_rank, 'score', v_standing.o_score, 'compared', v_standing.o_compared,
        'last_rank', v_standing.o_last_rank, 'last_score', v_standing.o_last_score
    );
    if v_standing.o_rank is null then
        v_causes := v_causes || jsonb_build_object('cause', 'no_query_word', 'words', jsonb_path_query_array(v_words, '$[*].lexeme'));
    elsif v_standing.o_rank > p_limit then
        v_causes := v_causes || (jsonb_build_object('cause', 'outranked', 'leg', 'keyword') || v_body);
    end if;
    return jsonb_build_object(
        'keyword', v_body || jsonb_build_object('chunk_id', v_standing.o_chunk_id, 'words', v_words), 'causes', v_causes
    );
end;
$_$;

COMMENT ON FUNCTION ragpg._keyword_standing(p_ranking ragpg._ranking, p_query text, p_document_id uuid, p_chunk_ids uuid[], p_limit integer) IS 'Where a document stands in the keyword leg, by its best chunk among all visible matches, and which of the query''s words it holds.';

CREATE FUNCTION ragpg._language(p_language text) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_config regconfig;
    v_name text;
begin
    begin
        v_config := p_language::regconfig;
    exception
        when others then
            v_config := null;
    end;
    -- the full name: it means the same in every session and after a restore, unlike a number or what lies in a temporary schema
    select ragpg._config_name(config.cfgname, namespace.nspname) into v_name
    from pg_ts_config as config
    join pg_namespace as namespace on namespace.oid = config.cfgnamespace
    where config.oid = v_config and not starts_with(namespace.nspname, 'pg_temp');
    if v_name is null then
        raise exception using
            errcode = 'RG007',
            message = format('there is no text-search configuration %L', p_language),
            hint = 'select cfgname from pg_ts_config lists them; ''simple'' suits any language.';
    end if;
    return v_name;
end;
$$;

COMMENT ON FUNCTION ragpg._language(p_language text) IS 'The full name of a text-search configuration. RG007 where there is none.';

CREATE FUNCTION ragpg._lexeme_count(p_tsv tsvector) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT (COALESCE(sum(COALESCE(cardinality(word.positions), 1)), (0)::bigint))::integer AS "coalesce"
    FROM unnest(_lexeme_count.p_tsv) word(lexeme, positions, weights)
   WHERE ((NOT starts_with(word.lexeme, '~'::text)) AND (NOT starts_with(word.lexeme, '^'::text)));
END;

COMMENT ON FUNCTION ragpg._lexeme_count(p_tsv tsvector) IS 'The length of a chunk as BM25 takes it: the number of positions in its tsvector, without stop words and single characters.';

CREATE FUNCTION ragpg._load_pgvector() RETURNS public.vector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT '[1]'::public.vector AS vector;
END;

COMMENT ON FUNCTION ragpg._load_pgvector() IS 'Loads pgvector''s library when a role that is no superuser restores a backup.';

CREATE FUNCTION ragpg._lock_for_dropping(p_patience interval) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '100ms'
    AS $$
declare
    v_pause constant double precision := 0.2;
    v_deadline constant timestamptz := clock_timestamp() + p_patience;
begin
    loop
        begin
            -- in the order in which searches and writes take them, so that nobody waits in a circle
            lock table ragpg.index_version, ragpg.document, ragpg.chunk, ragpg.embedding in access exclusive mode;
            return;
        exception when lock_not_available then
            if clock_timestamp() + make_interval(secs => v_pause) > v_deadline then
                raise exception using
                    errcode = 'lock_not_available',
                    message = 'other transactions that search or write stayed open, and nothing can be dropped under them',
                    hint = 'Run it again, or look for old transactions: select * from pg_stat_activity order by xact_start.';
            end if;
        end;
        -- outside of the block: what was locked is free again
        perform pg_sleep(v_pause);
    end loop;
end;
$$;

COMMENT ON FUNCTION ragpg._lock_for_dropping(p_patience interval) IS 'Takes the locks for dropping partitions, a tenth of a second at a time, so that searches never wait longer for it to begin. 55P03 after p_patience.';

CREATE FUNCTION ragpg._lock_patience() RETURNS interval
    LANGUAGE sql STABLE
    BEGIN ATOMIC
 SELECT COALESCE(NULLIF((current_setting('lock_timeout'::text))::interval, '00:00:00'::interval), '00:01:00'::interval) AS "coalesce";
END;

COMMENT ON FUNCTION ragpg._lock_patience() IS 'How long a function that drops partitions tries to lock them: the caller''s lock_timeout, else a minute.';

CREATE FUNCTION ragpg._may_choose_principals() RETURNS boolean
    LANGUAGE sql STABLE PARALLEL RESTRICTED
    BEGIN ATOMIC
 SELECT has_function_privilege(ragpg._caller(), 'ragpg._may_choose_principals()'::text, 'execute'::text) AS has_function_privilege;
END;

COMMENT ON FUNCTION ragpg._may_choose_principals() IS 'True where the caller may pass p_principals: the owner and every role granted trusted_reader. Being allowed to execute this function is the grant itself.';

CREATE FUNCTION ragpg._measure_visibility(p_scope ragpg._scope, p_narrow_limit integer) RETURNS ragpg._scope
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_scope ragpg._scope := p_scope;
    v_documents record;
    v_document_limit integer;
begin
    v_scope.narrow_limit := p_narrow_limit;
    if p_scope.document_count > 0 and num_nonnulls(p_scope.chunk_filter, p_scope.phrases, p_scope.exclusions) = 0 then
        -- documents are quicker to count than chunks; their length tells how many chunks they have
        v_document_limit := least(p_narrow_limit, ceil(p_narrow_limit::double precision * p_scope.document_count / p_scope.chunk_count));
        v_documents := ragpg._visible_documents(p_scope, v_document_limit + 1);
        v_scope.visible_chunks := ceil(
            v_documents.o_bytes::double precision * p_scope.chunk_count / greatest(p_scope.document_bytes, 1)
        );
        v_scope.is_narrow := cardinality(v_documents.o_ids) <= v_document_limit and v_scope.visible_chunks <= p_narrow_limit;
        v_scope.narrow_documents := case when v_scope.is_narrow then v_documents.o_ids end;
    else
        v_scope.visible_chunks := ragpg._count_visible(p_scope, p_narrow_limit + 1);
        v_scope.is_narrow := v_scope.visible_chunks <= p_narrow_limit;
    end if;
    return v_scope;
end;
$$;

COMMENT ON FUNCTION ragpg._measure_visibility(p_scope ragpg._scope, p_narrow_limit integer) IS 'The scope with a count, up to a cap, of what the caller may see through the filters. A narrow caller''s documents are named in it.';

CREATE FUNCTION ragpg._milliseconds(p_from timestamp with time zone, p_to timestamp with time zone) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT (round((EXTRACT(epoch FROM (p_to - p_from)) * (1000)::numeric), 3))::double precision AS round;
END;

COMMENT ON FUNCTION ragpg._milliseconds(p_from timestamp with time zone, p_to timestamp with time zone) IS 'The time between two instants in milliseconds.';

CREATE FUNCTION ragpg._narrow_limit(p_scope ragpg._scope) RETURNS integer
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    -- comparing every visible vector costs in proportion to them, walking the graph in proportion to what it has to pass: they
    -- meet where the square of the visible chunks is about 300 times all chunks (measured: docs/decisions.md)
    return least(greatest(
        1000, ceil(sqrt(300.0 * greatest(p_scope.chunk_count, ragpg._estimated_chunks(p_scope.index_version_id), 0)))
    ), 100000);
end;
$$;

COMMENT ON FUNCTION ragpg._narrow_limit(p_scope ragpg._scope) IS 'Up to how many visible chunks it is quicker to compare each than to use the HNSW index.';

CREATE FUNCTION ragpg._nearest_exact(p_scope ragpg._scope, p_embedding public.halfvec, p_limit integer) RETURNS ragpg._leg
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET jit TO 'off'
    AS $_$
declare
    v_leg ragpg._leg;
begin
    -- only what the filters need is joined
    execute
        'select coalesce(array_agg(nearest.document_id order by nearest.distance, nearest.chunk_id), ''{}''),'
        ' coalesce(array_agg(nearest.chunk_id order by nearest.distance, nearest.chunk_id), ''{}''),'
        ' coalesce(array_agg(nearest.distance order by nearest.distance, nearest.chunk_id), ''{}'')'
        ' from ('
        -- + 0 keeps an approximate index from answering
        '   select embedding.document_id, embedding.chunk_id, ragpg._cosine_distance(embedding.embedding, $1) + 0 as distance'
        '   from '
        || case when p_scope.narrow_documents is null
            then 'ragpg.document'
            else 'unnest($12) as narrow (id) join ragpg.document on document.id = narrow.id' end ||
        '   join ragpg.embedding on embedding.document_id = document.id '
        || ragpg._chunk_join(p_scope) ||
        '   where embedding.index_version_id = $2'
        '     and document.collection_id = $3 and document.tenant_id = $4 and ($5 or document.acl && $6)'
        '     and (document.expires_at is null or document.expires_at > now())'
        '     and ($7 is null or document.metadata @@ $7)'
        '   order by distance, embedding.chunk_id'
        '   limit $11'
        ' ) as nearest'
        -- a stored vector of zeros has no direction
        ' where nearest.distance <> ''NaN'''
    into v_leg.document_ids, v_leg.chunk_ids, v_leg.scores
    using
        p_embedding, p_scope.index_version_id, p_scope.collection_id, p_scope.tenant_id, p_scope.every_document,
        p_scope.principals, p_scope.filter, p_scope.chunk_filter, p_scope.phrases, p_scope.exclusions,
        p_limit, p_scope.narrow_documents;
    return v_leg;
end;
$_$;

COMMENT ON FUNCTION ragpg._nearest_exact(p_scope ragpg._scope, p_embedding public.halfvec, p_limit integer) IS 'The nearest visible chunks by comparing every one of them.';

CREATE FUNCTION ragpg._nearest_hnsw(p_scope ragpg._scope, p_embedding public.halfvec, p_limit integer, p_passed integer DEFAULT 8000, p_ef_search integer DEFAULT 400) RETURNS ragpg._leg
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET jit TO 'off'
    SET "hnsw.iterative_scan" TO 'relaxed_order'
    SET "hnsw.ef_search" TO '400'
    SET "hnsw.max_scan_tuples" TO '40000'
    SET work_mem TO '32MB'
    SET enable_sort TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $_$
declare
    v_leg ragpg._leg;
begin
    -- holds until this function returns, since it has a SET clause for it
    perform set_config('hnsw.ef_search', p_ef_search::text, true);
    -- the type's length has to be in the text for the index to match; the page is sorted again, since relaxed order is only nearly so
    execute format(
        'select coalesce(array_agg(nearest.document_id order by nearest.distance, nearest.chunk_id), ''{}''),'
        ' coalesce(array_agg(nearest.chunk_id order by nearest.distance, nearest.chunk_id), ''{}''),'
        ' coalesce(array_agg(nearest.distance order by nearest.distance, nearest.chunk_id), ''{}'')'
        ' from ('
        '   select embedding.document_id, embedding.chunk_id, embedding.distance'
        '   from ('
        '     select document_id, chunk_id, ragpg._cosine_distance(embedding::%1$I.halfvec(%2$s), $1) as distance'
        '     from ragpg.embedding'
        '     where index_version_id = $2'
        '     order by ragpg._cosine_distance(embedding::%1$I.halfvec(%2$s), $1)'
        '     limit $12'
        '   ) as embedding'
        '   join ragpg.document on document.id = embedding.document_id %3$s'
        '   where document.collection_id = $3 and document.tenant_id = $4 and ($5 or document.acl && $6)'
        '     and (document.expires_at is null or document.expires_at > now())'
        '     and ($7 is null or document.metadata @@ $7)'
        '   limit $11'
        ' ) as nearest',
        ragpg._vector_schema(), p_scope.dimensions, ragpg._chunk_join(p_scope)
    )
    into v_leg.document_ids, v_leg.chunk_ids, v_leg.scores
    using
        p_embedding, p_scope.index_version_id, p_scope.collection_id, p_scope.tenant_id, p_scope.every_document,
        p_scope.principals, p_scope.filter, p_scope.chunk_filter, p_scope.phrases, p_scope.exclusions, p_limit, p_passed;
    return v_leg;
end;
$_$;

COMMENT ON FUNCTION ragpg._nearest_hnsw(p_scope ragpg._scope, p_embedding public.halfvec, p_limit integer, p_passed integer, p_ef_search integer) IS 'The nearest visible chunks by walking the HNSW graph until enough are found or p_passed chunks, hidden ones too, were passed; sorted by true distance.';

CREATE FUNCTION ragpg._no_such_document(p_scope ragpg._scope, p_external_id text) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
begin
    return jsonb_build_object(
        'cause', 'no_such_document',
        'other_tenants', to_jsonb(array(
            select document.tenant_id
            from ragpg.document
            where document.collection_id = p_scope.collection_id and document.external_id = p_external_id
            order by document.tenant_id
        ))
    );
end;
$$;

COMMENT ON FUNCTION ragpg._no_such_document(p_scope ragpg._scope, p_external_id text) IS 'The cause for a document that the tenant does not have, and the tenants of the collection that do.';

CREATE FUNCTION ragpg._normalise(p_text text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT
         CASE
             WHEN (p_text !~ '[^\u0001-\u007E\u00C0-\u00FF\u2014\u2018-\u201F\u20AC]'::text) THEN p_text
             ELSE regexp_replace(regexp_replace(NORMALIZE(p_text, NFKC), '[\u00AD\u200B-\u200F\u2060\uFE00-\uFE0F\uFEFF\u0591-\u05BD\u05BF-\u05C7\u0640\u064B-\u0652\u0670]'::text, ''::text, 'g'::text), '[\u2010-\u2013\u2212]'::text, '-'::text, 'g'::text)
         END AS regexp_replace;
END;

COMMENT ON FUNCTION ragpg._normalise(p_text text) IS 'The text in Unicode normal form KC, so that full-width letters, ligatures and combining marks match their plain forms; without invisible characters and optional vowel points, and with one kind of hyphen.';

CREATE FUNCTION ragpg._occurring(p_scope ragpg._scope, p_lexemes text[], p_counts integer[]) RETURNS TABLE(lexeme text, occurrences integer)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    SET jit TO 'off'
    AS $$
begin
    return query
    select term.lexeme, term.occurrences
    from unnest(p_lexemes, p_counts) as term (lexeme, occurrences)
    cross join lateral (select ragpg._any_of(array[term.lexeme]) as query) as query
    where
        -- a case, so that the dearer question is only asked of what occurs
        case
            when exists (
                select from ragpg.chunk
                where chunk.index_version_id = p_scope.index_version_id and chunk.content_tsv @@ query.query
            )
                then p_scope.idf = 'corpus' or ragpg._document_frequency(p_scope, query.query) > 0
        end;
end;
$$;

COMMENT ON FUNCTION ragpg._occurring(p_scope ragpg._scope, p_lexemes text[], p_counts integer[]) IS 'Those of a long query''s lexemes that occur, in one statement: thousands of unknown words must not displace the few that are known.';

CREATE FUNCTION ragpg._open_search(p_collection text, p_index_version bigint, p_principals text[], p_tenant_id text, p_filter jsonpath, p_chunk_filter jsonpath, p_idf text DEFAULT 'corpus'::text) RETURNS ragpg._scope
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    v_scope ragpg._scope;
    v_version record;
    v_session_tenant_id constant text := ragpg._current_tenant_id();
begin
    if p_idf is null or p_idf not in ('corpus', 'visible') then
        raise exception using errcode = 'RG007', message = format('p_idf is %L; it must be corpus or visible', p_idf);
    end if;
    v_scope.idf := p_idf;
    v_version := ragpg._index_version(p_collection, p_index_version);
    v_scope.collection_id := v_version.collection_id;
    v_scope.index_version_id := v_version.index_version_id;
    v_scope.is_active := v_version.is_active;
    v_scope.dimensions := v_version.dimensions;
    v_scope.model_key := format('%s:%s:%s', v_version.embedding_provider, v_version.embedding_model, v_version.dimensions);
    v_scope.query_prefix := v_version.query_prefix;
    select
        collection.bm25_k1, collection.bm25_b, version.chunk_count, version.average_length, version.document_count,
        version.document_bytes, version.statistics_horizon,
        version.statistics_k1 = collection.bm25_k1 and version.statistics_b = collection.bm25_b
    into
        v_scope.bm25_k1, v_scope.bm25_b, v_scope.chunk_count, v_scope.average_length, v_scope.document_count,
        v_scope.document_bytes, v_scope.statistics_horizon,
        v_scope.bounds_valid
    from ragpg.collection
    join ragpg.index_version as version on version.collection_id = collection.id
    where collection.id = v_version.collection_id and version.id = v_version.index_version_id;

    v_scope.principals := ragpg._principals(p_principals);
    v_scope.every_document := '*' = any (v_scope.principals);
    v_scope.tenant_id := coalesce(p_tenant_id, v_session_tenant_id);
    if v_scope.tenant_id is null then
        raise exception using
            errcode = 'RG006',
            message = format('role %I is bound to other tenants than %L', ragpg._caller(), coalesce(current_setting('ragpg.tenant_id', true), '')),
            hint = 'Set ragpg.tenant_id to a tenant that ragpg.grant_access bound the role to.';
    end if;
    if v_scope.tenant_id is distinct from v_session_tenant_id and not ragpg._may_choose_principals() then
        raise exception using
            errcode = 'RG006',
            message = format('role %I may not pass another tenant than its session''s', ragpg._caller()),
            hint = 'Set ragpg.tenant_id in the session, or let the owner run ragpg.grant_access(role, ''trusted_reader'').';
    end if;
    v_scope.filter := ragpg._predicate(p_filter, 'p_filter');
    v_scope.chunk_filter := ragpg._predicate(p_chunk_filter, 'p_chunk_filter');
    return v_scope;
end;
$$;

COMMENT ON FUNCTION ragpg._open_search(p_collection text, p_index_version bigint, p_principals text[], p_tenant_id text, p_filter jsonpath, p_chunk_filter jsonpath, p_idf text) IS 'Checks who asks and what for, and collects what every step of the search needs. RG001, RG004, RG006, RG007, RG009.';

CREATE FUNCTION ragpg._parse_query(p_configs text[], p_query text, OUT o_has_words boolean, OUT o_lexemes text[], OUT o_counts integer[], OUT o_phrases tsquery, OUT o_exclusions tsquery, OUT o_stop_lexemes text[], OUT o_stop_counts integer[], OUT o_stop_phrase tsquery) RETURNS record
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_excluded constant text := ragpg._excluded();
    v_query constant text := coalesce(p_query, '');
    v_rest constant text := regexp_replace(v_query, v_excluded, ' ', 'g');
    v_stop_configs text[];
    v_is_known boolean;
    v_found text;
    v_one tsquery;
begin
    o_has_words := v_rest ~ '[^[:punct:][:space:]]' or v_rest ~ ragpg._pictographs();
    with word as materialized (
        select
            config.name as config,
            item.lexeme,
            coalesce(cardinality(item.positions), 1) as occurrences,
            starts_with(item.lexeme, '~') as is_stop
        from unnest(p_configs) as config (name)
        cross join lateral unnest(ragpg._analyze(config.name::regconfig, v_rest)) as item
        where not starts_with(item.lexeme, '^')
        union all
        -- a single Chinese character is a word where it is all there is of its run
        select null, letter.alone, count(*), false
        from ragpg._letters(ragpg._normalise(v_rest)) as letter
        where letter.alone is not null and letter.single is not null
        group by letter.alone
    ),

    -- the language that the question is asked in, where one shows: that of most of its stop words, two at least
    asked as (
        select guess.config, guess.stop_words
        from (
            select
                word.config,
                array_agg(substr(word.lexeme, 2)) as stop_words,
                count(*) as found,
                lead(count(*), 1, 0::bigint) over (order by count(*) desc) as next
            from word
            where word.is_stop
            group by word.config
            order by found desc
            limit 1
        ) as guess
        where guess.found >= 2 and guess.found > guess.next
    ),

    -- they are no words of the others either: «what» is rare in Chinese documents, and says nothing about them
    foreign_stop as (
        select config.name as config, item.lexeme
        from asked
        cross join unnest(p_configs) as config (name)
        cross join lateral unnest(ragpg._analyze(config.name::regconfig, array_to_string(asked.stop_words, ' '))) as item
        where config.name <> asked.config and not starts_with(item.lexeme, '~')
    ),

    term as (
        select word.lexeme, max(word.occurrences)::integer as occurrences, word.is_stop, array_agg(distinct word.config) as configs
        from word
        where
            not exists (
                select from foreign_stop
                where foreign_stop.config = word.config and foreign_stop.lexeme = word.lexeme
            )
            and (
                not word.is_stop or not exists (
                    select from word as other
                    where not other.is_stop and coalesce(other.config = word.config, true)
                )
            )
        group by word.lexeme, word.is_stop
    )

    select
        array_agg(term.lexeme order by term.lexeme) filter (where not term.is_stop),
        array_agg(term.occurrences order by term.lexeme) filter (where not term.is_stop),
        array_agg(term.lexeme order by term.lexeme) filter (where term.is_stop),
        array_agg(term.occurrences order by term.lexeme) filter (where term.is_stop),
        array(select distinct unnest(stop_word.configs) from term as stop_word where stop_word.is_stop),
        coalesce(bool_or(not term.is_stop and term.configs <> array['simple']), false)
    into o_lexemes, o_counts, o_stop_lexemes, o_stop_counts, v_stop_configs, v_is_known
    from term;
    if o_stop_lexemes is not null and not v_is_known then
        -- simple, which has no stop words, does not tell that a word is more than one
        o_stop_lexemes := o_lexemes || o_stop_lexemes;
        o_stop_counts := o_counts || o_stop_counts;
        o_lexemes := null;
        o_counts := null;
        v_stop_configs := p_configs;
    end if;
    o_stop_phrase := ragpg._phrase_in(v_stop_configs, v_rest);

    for v_found in select part.text[1] from regexp_matches(v_rest, '"([^"]+)"', 'g') as part (text) loop
        v_one := ragpg._phrase_in(p_configs, v_found);
        o_phrases := case when o_phrases is null then v_one when v_one is null then o_phrases else o_phrases && v_one end;
    end loop;
    for v_found in select part.text[1] from regexp_matches(v_query, v_excluded, 'g') as part (text) loop
        v_one := ragpg._phrase_in(p_configs, v_found);
        o_exclusions := case when o_exclusions is null then v_one when v_one is null then o_exclusions else o_exclusions || v_one end;
    end loop;
end;
$$;

COMMENT ON FUNCTION ragpg._parse_query(p_configs text[], p_query text, OUT o_has_words boolean, OUT o_lexemes text[], OUT o_counts integer[], OUT o_phrases tsquery, OUT o_exclusions tsquery, OUT o_stop_lexemes text[], OUT o_stop_counts integer[], OUT o_stop_phrase tsquery) IS 'A person''s query taken apart: its lexemes with their counts (in every language in use), the "quoted phrases" that a chunk must hold, the -exclusions it must not; and its stop words, alone and as a phrase, in the languages in which it holds nothing else.';

CREATE FUNCTION ragpg._passing_chunks(p_scope ragpg._scope, p_document_id uuid) RETURNS uuid[]
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
begin
    return array(
        select chunk.id
        from ragpg.chunk
        where
            chunk.index_version_id = p_scope.index_version_id and chunk.document_id = p_document_id
            and (p_scope.chunk_filter is null or chunk.metadata @@ p_scope.chunk_filter)
            and (p_scope.phrases is null or chunk.content_tsv @@ p_scope.phrases)
            and (p_scope.exclusions is null or not chunk.content_tsv @@ p_scope.exclusions)
        order by chunk.ordinal
    );
end;
$$;

COMMENT ON FUNCTION ragpg._passing_chunks(p_scope ragpg._scope, p_document_id uuid) IS 'The chunks of a document that pass the conditions on chunks: p_chunk_filter, "phrases", -exclusions.';

CREATE FUNCTION ragpg._pending_chunks(p_collection text, p_limit integer DEFAULT 500, p_index_version bigint DEFAULT NULL::bigint) RETURNS TABLE(document_id uuid, chunk_id uuid, heading text, content text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    v_version record := ragpg._index_version(p_collection, p_index_version);
begin
    return query
    select chunk.document_id, chunk.id, chunk.heading, chunk.content
    from ragpg.document
    join ragpg.chunk on chunk.document_id = document.id
    where
        document.collection_id = v_version.collection_id
        and (not v_version.is_active or document.indexed_at is null)
        and chunk.index_version_id = v_version.index_version_id
        and v_version.dimensions is not null
        and not exists (
            select from ragpg.embedding
            where
                embedding.index_version_id = chunk.index_version_id
                and embedding.document_id = chunk.document_id
                and embedding.chunk_id = chunk.id
        )
    order by chunk.document_id, chunk.ordinal
    limit p_limit;
end;
$$;

COMMENT ON FUNCTION ragpg._pending_chunks(p_collection text, p_limit integer, p_index_version bigint) IS 'Chunks that wait for their vector. RG001, RG004.';

CREATE FUNCTION ragpg._phrase(p_config regconfig, p_text text, OUT o_query tsquery, OUT o_is_stop_words boolean) RETURNS record
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_text constant text := ragpg._normalise(p_text);
    v_words text;
    v_characters text;
    v_identifiers text;
begin
    select string_agg(concat(' <' || word.place - word.previous || '> ', '(' || word.query || ')'), '' order by word.place), bool_and(word.is_stop)
    into v_words, o_is_stop_words
    from (
        select
            position.place,
            lag(position.place) over (order by position.place) as previous,
            ragpg._any_of(array_agg(word.lexeme))::text as query,
            bool_and(starts_with(word.lexeme, '~')) as is_stop
        from unnest(ragpg._words(p_config, ragpg._plain_words(regexp_replace(v_text, ragpg._spaceless(), ' ', 'g')))) as word
        cross join lateral unnest(word.positions) as position (place)
        group by position.place
    ) as word;
    select string_agg(letter.operator || ragpg._quoted(letter.lexeme), '' order by letter.place)
    into v_characters
    from (
        select
            item.place,
            coalesce(item.pair, item.alone) as lexeme,
            case when not item.is_first then ' <-> ' when row_number() over (order by item.place) = 1 then '' else ' & ' end as operator
        from ragpg._letters(v_text) as item
        where coalesce(item.pair, item.alone) is not null
    ) as letter;
    -- an identifier is meant whole: C++ is not C, and 3.11 is not 3 11
    select string_agg(ragpg._quoted(name.lexeme), ' & ') into v_identifiers
    from unnest(ragpg._identifiers(v_text)) as name (lexeme);
    o_query := nullif(concat_ws(' & ', v_words, v_characters, v_identifiers), '')::tsquery;
    o_is_stop_words := o_is_stop_words and v_characters is null and v_identifiers is null;
end;
$$;

COMMENT ON FUNCTION ragpg._phrase(p_config regconfig, p_text text, OUT o_query tsquery, OUT o_is_stop_words boolean) IS 'The tsquery that finds the words of a text next to each other, analysed as documents are, and whether all are stop words. Null where the text holds no searchable word.';

CREATE FUNCTION ragpg._phrase_in(p_configs text[], p_text text) RETURNS tsquery
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_known tsquery[] := '{}';
    v_stop_words tsquery[] := '{}';
    v_simple tsquery[] := '{}';
    v_one record;
    v_config text;
begin
    foreach v_config in array p_configs loop
        v_one := ragpg._phrase(v_config::regconfig, p_text);
        continue when v_one.o_query is null;
        if v_config = 'simple' then
            v_simple := v_simple || v_one.o_query;
        elsif v_one.o_is_stop_words then
            v_stop_words := v_stop_words || v_one.o_query;
        else
            v_known := v_known || v_one.o_query;
        end if;
    end loop;
    -- a word that one language drops is meant in the language that does not; simple, which drops none, doesn't tell
    return (
        select string_agg(concat('(', phrase.query, ')'), ' | ')::tsquery
        from unnest(case when v_known = '{}' then v_stop_words else v_known end || v_simple) as phrase (query)
    );
end;
$$;

COMMENT ON FUNCTION ragpg._phrase_in(p_configs text[], p_text text) IS 'The phrase as a tsquery, analysed in any of the languages in use; as stop words only where it is nothing else in any of them.';

CREATE FUNCTION ragpg._plain_hits(p_scope ragpg._scope, p_ranking ragpg._ranking, p_k integer) RETURNS SETOF ragpg.search_hit
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
begin
    return query
    select
        chunk.id,
        chunk.document_id,
        document.external_id,
        document.title,
        document.uri,
        chunk.content,
        chunk.heading,
        chunk.section_path,
        chunk.page_start,
        chunk.page_end,
        chunk.char_start,
        chunk.char_end,
        document.metadata || chunk.metadata,
        ranked.score,
        ranked.vector_rank,
        ranked.vector_distance,
        ranked.keyword_rank,
        ranked.keyword_score,
        p_ranking.degraded
    from unnest(
        p_ranking.document_ids[:p_k], p_ranking.chunk_ids[:p_k], p_ranking.scores[:p_k], p_ranking.vector_ranks[:p_k],
        p_ranking.vector_distances[:p_k], p_ranking.keyword_ranks[:p_k], p_ranking.keyword_scores[:p_k]
    ) with ordinality as ranked (
        document_id, chunk_id, score, vector_rank, vector_distance, keyword_rank, keyword_score, place
    )
    join ragpg.chunk
        on
            chunk.index_version_id = p_scope.index_version_id
            and chunk.document_id = ranked.document_id
            and chunk.id = ranked.chunk_id
    join ragpg.document on document.id = ranked.document_id
    order by ranked.place;
end;
$$;

COMMENT ON FUNCTION ragpg._plain_hits(p_scope ragpg._scope, p_ranking ragpg._ranking, p_k integer) IS 'The first p_k of a ranking with the text of their chunks.';

CREATE FUNCTION ragpg._plain_words(p_text text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 WITH words AS MATERIALIZED (
          SELECT regexp_replace(_plain_words.p_text, '[-_./:@+#~&=?%\\<>\u00A1\u00A6\u00A7\u00AB\u00B6\u00B7\u00BB\u00BF\u2010-\u2027\u2030-\u205E\u3001\u3002\u3008-\u3011\u3014-\u301F\u30FB]'::text, ' '::text, 'g'::text) AS text
         )
  SELECT
         CASE
             WHEN (words.text ~ '[^\s[:punct:]]{255}'::text) THEN regexp_replace(words.text, '([[:alnum:]]{255})(?=[[:alnum:]])'::text, '\1 '::text, 'g'::text)
             ELSE words.text
         END AS text
    FROM words;
END;

COMMENT ON FUNCTION ragpg._plain_words(p_text text) IS 'The text with every character that Postgres'' parser treats specially replaced by a space, and words over 255 characters cut.';

CREATE FUNCTION ragpg._positioned_lexemes(p_lexemes text[]) RETURNS tsvector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT (COALESCE(string_agg(((ragpg._quoted(item.lexeme) || ':'::text) || item.place), ' '::text), ''::text))::tsvector AS "coalesce"
    FROM unnest(_positioned_lexemes.p_lexemes) WITH ORDINALITY item(lexeme, place)
   WHERE (item.lexeme <> ''::text);
END;

COMMENT ON FUNCTION ragpg._positioned_lexemes(p_lexemes text[]) IS 'A tsvector of the given lexemes, taken as they are (no stemming), each at the positions where it stands in the array.';

CREATE FUNCTION ragpg._predicate(p_path jsonpath, p_name text) RETURNS jsonpath
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
begin
    if p_path is null then
        return null;
    end if;
    -- a filter looks at rows the caller may not see before they are left out. jsonpath silences errors, but not those of time zones,
    -- nor the warnings of precision: either would tell whether the condition before it held. Keys are in quotes here, methods not.
    if regexp_replace(p_path::text, '"(?:[^"\\]|\\.)*"', '""', 'g') ~ '\.(datetime|date|time|time_tz|timestamp|timestamp_tz)\(' then
        raise exception using
            errcode = 'RG009',
            message = format('%s uses a date or time method: %s', p_name, p_path),
            hint = 'Store dates as ISO text and compare them as text: ''$.date >= "2026-01-31"''.';
    end if;
    -- a path that selects instead of asking yields no boolean, and as a filter would silently match nothing
    perform jsonb_path_match('{}', p_path);
    return p_path;
exception
    when sqlstate 'RG009' then
        raise;
    when singleton_sql_json_item_required then
        raise exception using
            errcode = 'RG009',
            message = format('%s is not a predicate: %s', p_name, p_path),
            hint = 'Write a condition, such as ''$.year >= 2024 && $.product == "ProMax"''; turn ''$.a ? (@ > 1)'' into ''$.a > 1''.';
    when others then
        raise exception using
            errcode = 'RG009',
            message = format('%s can''t be evaluated: %s', p_name, sqlerrm),
            hint = 'Write a condition without variables, such as ''$.year >= 2024''.';
end;
$_$;

COMMENT ON FUNCTION ragpg._predicate(p_path jsonpath, p_name text) IS 'The jsonpath itself, after a check that it is a condition. RG009.';

CREATE FUNCTION ragpg._principals(p_principals text[]) RETURNS text[]
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if p_principals is null then
        return ragpg._current_principals();
    end if;
    if not ragpg._may_choose_principals() then
        raise exception using
            errcode = 'RG006',
            message = format('role %I may not pass p_principals', ragpg._caller()),
            hint = 'Set ragpg.principals in the session, or let the owner run ragpg.grant_access(role, ''trusted_reader'').';
    end if;
    if '*' = any (p_principals) and not ragpg._caller_is_owner() then
        raise exception using
            errcode = 'RG006',
            message = format('role %I may not pass the principal *', ragpg._caller()),
            hint = 'Only the owner of schema ragpg may read every document of a tenant.';
    end if;
    return array(select distinct item from unnest(p_principals || array['public']) as item where item is not null);
end;
$$;

COMMENT ON FUNCTION ragpg._principals(p_principals text[]) IS 'The principals a search runs with: those given, if the caller may give any (RG006), else the session''s. public is always one of them.';

CREATE FUNCTION ragpg._query_words(p_scope ragpg._scope, p_terms ragpg._terms, p_query text, p_document_id uuid, p_chunk_ids uuid[]) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    v_query record := ragpg._parse_query(p_scope.configs, p_query);
begin
    return coalesce(
        (
            select jsonb_agg(
                jsonb_build_object(
                    'lexeme', word.lexeme,
                    'held', exists (
                        select from ragpg.chunk
                        where
                            chunk.index_version_id = p_scope.index_version_id and chunk.document_id = p_document_id
                            and chunk.id = any (p_chunk_ids) and chunk.content_tsv @@ ragpg._any_of(array[word.lexeme])
                    ),
                    'document_frequency', coalesce(term.df, 0),
                    'idf', term.idf
                )
                order by coalesce(term.df, 0), word.lexeme
            )
            from unnest(coalesce(v_query.o_lexemes, v_query.o_stop_lexemes)) as word (lexeme)
            left join unnest(p_terms.lexemes, p_terms.document_frequencies, p_terms.idfs) as term (lexeme, df, idf)
                on term.lexeme = word.lexeme
        ),
        '[]'
    );
end;
$$;

COMMENT ON FUNCTION ragpg._query_words(p_scope ragpg._scope, p_terms ragpg._terms, p_query text, p_document_id uuid, p_chunk_ids uuid[]) IS 'The lexemes of a query, rarest first: whether one of the given chunks holds it, document frequency (0 where it was not searched, too), idf.';

CREATE FUNCTION ragpg._role(p_role text) RETURNS oid
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_role constant oid := (select role.oid from pg_roles as role where role.rolname = p_role);
begin
    if v_role is null then
        raise exception using
            errcode = 'RG007',
            message = format('there is no role %L', p_role),
            hint = 'Names are case-sensitive; create the role first.';
    end if;
    return v_role;
end;
$$;

COMMENT ON FUNCTION ragpg._role(p_role text) IS 'The oid of a role. RG007 where there is none.';

CREATE FUNCTION ragpg._score_expression(p_terms integer) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT string_agg(format(('$1[%1$s] * (1 - found.saturation / (found.saturation + least(round(1 / (1.6449340668482264 * (1 - '::text || 'ts_rank(''{1,1,1,1}'', found.content_tsv, $2[%1$s])::double precision)) - 0.5), 255)))'::text), item.place), ' + '::text ORDER BY item.place) AS string_agg
    FROM generate_series(1, _score_expression.p_terms) item(place);
END;

COMMENT ON FUNCTION ragpg._score_expression(p_terms integer) IS 'The SQL expression for the BM25 score of a chunk over n terms; $1 are the weights, $2 the terms as tsquery.';

CREATE FUNCTION ragpg._search(p_scope ragpg._scope, p_mode text, p_query text, p_embedding public.vector, p_candidate_k integer, p_rrf_k integer, p_vector_weight double precision, p_keyword_weight double precision, p_fusion text, p_feedback integer) RETURNS ragpg._ranking
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    v_feedback_hits constant integer := 3;
    -- of hits that are nearly as good as the first, all count; of others it alone: they would lead astray
    v_feedback_sharpness constant double precision := 4;
    v_feedback_weight constant double precision := 0.6;
    -- a single leg keeps its own score
    v_fusion constant text := case p_mode when 'hybrid' then p_fusion else p_mode end;
    v_started constant timestamptz := clock_timestamp();
    v_analysed timestamptz;
    v_measured timestamptz;
    v_keyword_done timestamptz;
    v_vector_done timestamptz;
    v_scope ragpg._scope := p_scope;
    v_phrase_scope ragpg._scope;
    v_languages text[];
    v_configs text[] := '{}';
    v_query record;
    v_embedding ragpg.embedding.embedding%type;
    v_terms ragpg._terms;
    v_keyword ragpg._leg;
    v_vector ragpg._leg;
    v_ranking ragpg._ranking;
    v_degraded text[] := '{}';
begin
    if p_fusion is null or p_fusion not in ('rrf', 'score') then
        raise exception using
            errcode = 'RG007', message = format('p_fusion is %L; it must be rrf or score', p_fusion);
    end if;
    if p_feedback is null or p_feedback < 0 then
        raise exception using errcode = 'RG007', message = format('p_feedback is %s; it must be 0 or more', coalesce(p_feedback::text, 'null'));
    end if;
    perform ragpg._check_weights(p_vector_weight, p_keyword_weight);
    v_embedding := ragpg._check_embedding(p_scope, p_embedding);
    if p_query is not null then
        v_languages := ragpg._configs(p_scope);
        v_configs := ragpg._existing_configs(v_languages);
        if cardinality(v_configs) < cardinality(v_languages) and ragpg._sees_language(
            p_scope, array(select unnest(v_languages) except select unnest(v_configs))
        ) then
            v_degraded := v_degraded || 'language_missing'::text;
        end if;
    end if;
    v_query := ragpg._parse_query(v_configs, p_query);
    v_scope.configs := v_configs;
    v_scope.phrases := v_query.o_phrases;
    v_scope.exclusions := v_query.o_exclusions;
    if not v_query.o_has_words
        and (v_embedding is null and p_mode <> 'vector' or p_query is not null and v_query.o_exclusions is null) then
        raise exception using
            errcode = 'RG008',
            message = 'the query holds no word to search for',
            hint = 'Give some words; to search by an embedding alone, p_query is null.';
    end if;
    v_analysed := clock_timestamp();
    v_scope := ragpg._measure_visibility(v_scope, ragpg._narrow_limit(v_scope));
    v_measured := clock_timestamp();

    if p_mode in ('hybrid', 'keyword') then
        v_terms := ragpg._terms_of(v_scope, v_query.o_lexemes, v_query.o_counts);
        v_keyword := ragpg._keyword_leg(v_scope, v_terms, p_candidate_k);
        if v_keyword.chunk_ids = '{}' and v_query.o_stop_lexemes is not null then
            -- nothing but stop words: as a phrase where it occurs (The Who), else any of them
            v_terms := ragpg._terms_of(v_scope, v_query.o_stop_lexemes, v_query.o_stop_counts);
            v_phrase_scope := v_scope;
            v_phrase_scope.phrases := coalesce(v_scope.phrases && v_query.o_stop_phrase, v_query.o_stop_phrase);
            v_keyword := ragpg._keyword_leg(v_phrase_scope, v_terms, p_candidate_k);
            if v_keyword.chunk_ids = '{}' then
                v_keyword := ragpg._keyword_leg(v_scope, v_terms, p_candidate_k);
            end if;
        end if;
    end if;
    v_keyword_done := clock_timestamp();

    if p_mode in ('hybrid', 'vector') then
        if v_embedding is null and v_scope.dimensions is not null and p_query is not null then
            v_embedding := ragpg._cached_query(v_scope, p_query);
            if v_embedding is null and cardinality(v_keyword.chunk_ids) > 0 then
                v_embedding := ragpg._centroid(
                    v_scope, v_keyword.document_ids[:v_feedback_hits], v_keyword.chunk_ids[:v_feedback_hits],
                    array(
                        select power(hit.score / v_keyword.scores[1], v_feedback_sharpness)
                        from unnest(v_keyword.scores[:v_feedback_hits]) with ordinality as hit (score, place)
                        order by hit.place
                    )
                );
                if v_embedding is not null then
                    v_degraded := v_degraded || 'query_embedding_from_feedback'::text;
                end if;
            end if;
        end if;
        v_vector := ragpg._vector_leg(v_scope, v_embedding, p_candidate_k);
    end if;
    v_vector_done := clock_timestamp();

    v_ranking := ragpg._fuse(v_scope, v_terms, v_embedding, v_keyword, v_vector, v_fusion, p_rrf_k, p_vector_weight, p_keyword_weight);
    if p_feedback > 0 and p_embedding is not null and p_mode = 'hybrid' and v_ranking.chunk_ids is not null then
        -- Rocchio: the query moves towards what its first hits have in common
        v_embedding := coalesce(
            ragpg._weighted_sum(
                array[
                    v_embedding,
                    ragpg._centroid(
                        v_scope, v_ranking.document_ids[:p_feedback], v_ranking.chunk_ids[:p_feedback],
                        array_fill(1::double precision, array[least(p_feedback, cardinality(v_ranking.chunk_ids))])
                    )
                ],
                array[1, v_feedback_weight]
            ),
            v_embedding
        );
        v_vector := ragpg._vector_leg(v_scope, v_embedding, p_candidate_k);
        v_ranking := ragpg._fuse(v_scope, v_terms, v_embedding, v_keyword, v_vector, v_fusion, p_rrf_k, p_vector_weight, p_keyword_weight);
    end if;

    v_ranking.scope := v_scope;
    v_ranking.terms := v_terms;
    v_ranking.query_embedding := v_embedding;
    v_ranking.degraded := array(
        select distinct reason
        from unnest(v_degraded || coalesce(v_keyword.degraded, '{}') || coalesce(v_vector.degraded, '{}')) as reason
        order by reason
    );
    v_ranking.detail := jsonb_build_object(
        'keyword', v_keyword.detail,
        'vector', v_vector.detail,
        'phrases', v_scope.phrases::text,
        'exclusions', v_scope.exclusions::text,
        'terms', (
            select jsonb_agg(jsonb_build_object('lexeme', term.lexeme, 'document_frequency', term.df, 'idf', term.idf))
            from unnest(v_terms.lexemes, v_terms.document_frequencies, v_terms.idfs) as term (lexeme, df, idf)
        ),
        'timings_ms', jsonb_build_object(
            'analyse', ragpg._milliseconds(v_started, v_analysed),
            'visibility', ragpg._milliseconds(v_analysed, v_measured),
            'keyword', ragpg._milliseconds(v_measured, v_keyword_done),
            'vector', ragpg._milliseconds(v_keyword_done, v_vector_done),
            'fuse', ragpg._milliseconds(v_vector_done, clock_timestamp())
        )
    );
    return v_ranking;
end;
$$;

COMMENT ON FUNCTION ragpg._search(p_scope ragpg._scope, p_mode text, p_query text, p_embedding public.vector, p_candidate_k integer, p_rrf_k integer, p_vector_weight double precision, p_keyword_weight double precision, p_fusion text, p_feedback integer) IS 'One search, from the query to a ranking without text: analyse, both legs, fuse, feedback. RG005, RG007, RG008.';

CREATE FUNCTION ragpg._sees_language(p_scope ragpg._scope, p_languages text[]) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
begin
    return (
        select count(*) > 0
        from (
            select 1 from ragpg.document
            where
                document.collection_id = p_scope.collection_id and document.tenant_id = p_scope.tenant_id
                and (p_scope.every_document or document.acl && p_scope.principals)
                and (document.expires_at is null or document.expires_at > now())
                and document.language = any (p_languages)
            -- one would do, but looking for one Postgres scans the table in the hope to meet it soon; few it finds by their ACL
            limit 100
        ) as seen
    );
end;
$$;

COMMENT ON FUNCTION ragpg._sees_language(p_scope ragpg._scope, p_languages text[]) IS 'True where the caller may see a document that was analysed with one of the configurations.';

CREATE FUNCTION ragpg._set_embeddings(p_collection text, p_document_ids uuid[], p_chunk_ids uuid[], p_embeddings public.vector[], p_index_version bigint DEFAULT NULL::bigint) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    v_version record := ragpg._index_version(p_collection, p_index_version);
    v_count integer;
begin
    if cardinality(p_document_ids) <> cardinality(p_chunk_ids) or cardinality(p_chunk_ids) <> cardinality(p_embeddings) then
        raise exception using errcode = 'RG007', message = 'the three arrays differ in length';
    end if;
    perform ragpg._check_dimensions(p_embeddings, v_version.dimensions, v_version.index_version_id);
    -- by id, so that two writers never wait for each other in a circle
    perform 1 from ragpg.document
    where id = any (p_document_ids) and collection_id = v_version.collection_id
    order by id
    for update;
    insert into ragpg.embedding (index_version_id, document_id, chunk_id, embedding)
    select chunk.index_version_id, chunk.document_id, chunk.id, ragpg._to_halfvec(given.embedding)
    from unnest(p_document_ids, p_chunk_ids, p_embeddings) as given (document_id, chunk_id, embedding)
    -- a chunk that was edited away meanwhile is simply not there any more
    join ragpg.chunk
        on
            chunk.index_version_id = v_version.index_version_id
            and chunk.document_id = given.document_id
            and chunk.id = given.chunk_id
    on conflict (index_version_id, document_id, chunk_id) do update set embedding = excluded.embedding;
    get diagnostics v_count = row_count;
    update ragpg.document
    set indexed_at = clock.now
    from (select clock_timestamp() as now) as clock
    where
        v_version.is_active and document.id = any (p_document_ids)
        and document.collection_id = v_version.collection_id and document.indexed_at is null
        and not exists (
            select from ragpg.chunk
            where
                chunk.index_version_id = v_version.index_version_id
                and chunk.document_id = document.id
                and not exists (
                    select from ragpg.embedding
                    where
                        embedding.index_version_id = chunk.index_version_id
                        and embedding.document_id = chunk.document_id
                        and embedding.chunk_id = chunk.id
                )
        );
    return v_count;
end;
$$;

COMMENT ON FUNCTION ragpg._set_embeddings(p_collection text, p_document_ids uuid[], p_chunk_ids uuid[], p_embeddings public.vector[], p_index_version bigint) IS 'Stores the vectors of chunks that waited for them; returns how many were stored. RG001, RG004, RG005, RG007.';

CREATE FUNCTION ragpg._sets_reaching(p_queries tsquery[], p_bounds double precision[], p_threshold double precision) RETURNS tsquery
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_subset_terms constant integer := 8;
    v_count constant integer := cardinality(p_bounds);
    v_masks integer[] := '{}';
    v_query tsquery;
    v_and tsquery;
    v_sum double precision;
    v_mask integer;
    v_kept integer;
    v_item record;
begin
    if v_count > v_subset_terms then
        -- MaxScore: the terms whose bounds together stay under the threshold can't carry a chunk alone, so one of the others is in it
        v_sum := 0;
        for v_item in
            select term.query, term.bound
            from unnest(p_queries, p_bounds) as term (query, bound)
            order by term.bound
        loop
            v_sum := v_sum + v_item.bound;
            if v_sum >= p_threshold then
                v_query := case when v_query is null then v_item.query else v_query || v_item.query end;
            end if;
        end loop;
        return v_query;
    end if;

    -- all the smallest sets of terms whose bounds reach the threshold, few terms first: a set that holds a kept one adds nothing
    for v_mask in
        select mask.bits
        from generate_series(1, (1 << v_count) - 1) as mask (bits)
        order by bit_count(mask.bits::bit(8)), mask.bits
    loop
        continue when exists (select from unnest(v_masks) as kept (bits) where kept.bits & v_mask = kept.bits);
        v_sum := 0;
        v_and := null;
        for v_kept in 1 .. v_count loop
            if v_mask & (1 << (v_kept - 1)) <> 0 then
                v_sum := v_sum + p_bounds[v_kept];
                v_and := case when v_and is null then p_queries[v_kept] else v_and && p_queries[v_kept] end;
            end if;
        end loop;
        if v_sum >= p_threshold then
            v_masks := v_masks || v_mask;
            v_query := case when v_query is null then v_and else v_query || v_and end;
        end if;
    end loop;
    return v_query;
end;
$$;

COMMENT ON FUNCTION ragpg._sets_reaching(p_queries tsquery[], p_bounds double precision[], p_threshold double precision) IS 'The tsquery that every chunk matches whose score can reach the threshold: an OR of the minimal sets of terms whose bounds add up to it.';

CREATE FUNCTION ragpg._setting_principals() RETURNS text[]
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
    v_setting constant text := btrim(coalesce(current_setting('ragpg.principals', true), ''), E' \t\n\r\v\f');
begin
    if v_setting = '' then
        return null;
    end if;
    -- looked at before it is cast: a policy must not need a subtransaction to catch what a cast would raise
    if v_setting ~ '^\{' and v_setting !~ (
        '^\{[ \t\n\r\v\f]*(?:(?:"(?:[^"\\]|\\.)*"|[^ \t\n\r\v\f{}",\\](?:[^{}",\\]|\\.)*)[ \t\n\r\v\f]*'
        || '(?:,[ \t\n\r\v\f]*(?!\})|(?=\})))*\}$'
    ) then
        raise exception using
            errcode = 'RG007',
            message = format('the setting ragpg.principals is %L, which is no list of principals', v_setting),
            hint = 'Set it to user:ana,group:hr or to an array literal such as {user:ana,"group:human resources"}.';
    end if;
    return array(
        select distinct principal.name
        from unnest(
            case
                when v_setting ~ '^\{' then v_setting::text[]
                else regexp_split_to_array(v_setting, '[ \t\n\r\v\f]*,[ \t\n\r\v\f]*')
            end
        ) as principal (name)
        -- the wildcard is the owner's, as an argument; a setting must not raise anybody to it
        where principal.name not in ('', '*')
    );
end;
$_$;

COMMENT ON FUNCTION ragpg._setting_principals() IS 'The principals in the setting ragpg.principals, an array literal or a comma-separated list; null where it is empty. RG007.';

CREATE FUNCTION ragpg._single_leg(p_leg ragpg._leg, p_mode text) RETURNS ragpg._ranking
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_ranking ragpg._ranking;
    v_ranks constant integer[] := array(select generate_series(1, cardinality(p_leg.chunk_ids)));
begin
    if v_ranks = '{}' then
        return v_ranking;
    end if;
    v_ranking.document_ids := p_leg.document_ids;
    v_ranking.chunk_ids := p_leg.chunk_ids;
    if p_mode = 'keyword' then
        v_ranking.keyword_ranks := v_ranks;
        v_ranking.keyword_scores := p_leg.scores;
        v_ranking.scores := p_leg.scores;
    else
        v_ranking.vector_ranks := v_ranks;
        v_ranking.vector_distances := p_leg.scores;
        v_ranking.scores := array(select 1 - item.distance from unnest(p_leg.scores) with ordinality as item (distance, place) order by item.place);
    end if;
    return v_ranking;
end;
$$;

COMMENT ON FUNCTION ragpg._single_leg(p_leg ragpg._leg, p_mode text) IS 'One leg as a ranking, with its own score (vector: 1 − distance).';

CREATE FUNCTION ragpg._split_text(p_content text) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
    v_target constant integer := 1500;
begin
    return (
        select jsonb_agg(jsonb_build_object('char_start', part.char_start, 'char_end', part.char_end) order by part.char_start)
        from (
            -- neighbouring pieces that begin in the same stretch of the text make one chunk
            select
                min(piece.char_start) as char_start,
                max(piece.char_start + length(rtrim(piece.text, E' \t\r\n'))) as char_end
            from (
                select
                    cut.text,
                    sum(length(cut.text)) over (order by line.place, cut.place) - length(cut.text) as char_start
                from string_to_table(p_content, E'\n') with ordinality as line (text, place)
                cross join lateral (
                    select unit.text, unit.place
                    from unnest(
                        -- with the newline that string_to_table took; a line over the target is taken word by word
                        case when length(line.text) <= v_target then array[line.text || E'\n']
                        else array(
                            select word.text[1]
                            from regexp_matches(line.text || E'\n', '(\s*\S{1,255}|\s+$)', 'g') as word (text)
                        ) end
                    ) with ordinality as unit (text, place)
                ) as cut
            ) as piece
            where piece.text ~ '\S'
            group by piece.char_start / v_target
        ) as part
    );
end;
$_$;

COMMENT ON FUNCTION ragpg._split_text(p_content text) IS 'A plain split into ranges of about 1,500 characters between lines, or words where a line is longer: for callers who have only SQL.';

CREATE FUNCTION ragpg._standing(p_leg ragpg._leg, p_document_id uuid, p_chunk_ids uuid[], p_scores double precision[], p_ascending boolean, p_limit integer, OUT o_rank bigint, OUT o_score double precision, OUT o_chunk_id uuid, OUT o_compared integer, OUT o_last_rank integer, OUT o_last_score double precision) RETURNS record
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_sign constant integer := case when p_ascending then -1 else 1 end;
begin
    o_compared := coalesce(cardinality(p_leg.chunk_ids), 0);
    o_last_rank := nullif(least(p_limit, o_compared), 0);
    o_last_score := p_leg.scores[o_last_rank];
    select own.score, own.chunk_id
    into o_score, o_chunk_id
    from unnest(p_scores, p_chunk_ids) as own (score, chunk_id)
    where own.score is not null
    order by v_sign * own.score desc, own.chunk_id
    limit 1;
    if found then
        -- the same score, computed elsewhere, must not outrank itself by a rounding: its own chunks are left out
        select count(*) + 1 into o_rank
        from unnest(p_leg.document_ids, p_leg.chunk_ids, p_leg.scores) as other (document_id, chunk_id, score)
        where
            other.document_id <> p_document_id
            and (v_sign * other.score > v_sign * o_score or other.score = o_score and other.chunk_id < o_chunk_id);
    end if;
end;
$$;

COMMENT ON FUNCTION ragpg._standing(p_leg ragpg._leg, p_document_id uuid, p_chunk_ids uuid[], p_scores double precision[], p_ascending boolean, p_limit integer, OUT o_rank bigint, OUT o_score double precision, OUT o_chunk_id uuid, OUT o_compared integer, OUT o_last_rank integer, OUT o_last_score double precision) IS 'Where the best of a document''s chunks stands among everything a leg can return, seen or hidden, and what the last of p_limit candidates has. Chunks with a null score take no part.';

CREATE FUNCTION ragpg._standing_in_legs(p_ranking ragpg._ranking, p_mode text, p_query text, p_document_id uuid, p_limit integer, p_is_visible boolean) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    v_chunk_ids uuid[] := ragpg._passing_chunks((p_ranking).scope, p_document_id);
    v_keyword jsonb;
    v_vector jsonb;
begin
    if v_chunk_ids = '{}' then
        -- filtered out: where would it stand otherwise?
        v_chunk_ids := array(
            select chunk.id from ragpg.chunk
            where chunk.index_version_id = (p_ranking).scope.index_version_id and chunk.document_id = p_document_id
            order by chunk.ordinal
        );
    end if;
    if v_chunk_ids = '{}' then
        return jsonb_build_object('causes', '[]'::jsonb);
    end if;
    if p_mode in ('hybrid', 'keyword') then
        v_keyword := ragpg._keyword_standing(p_ranking, p_query, p_document_id, v_chunk_ids, p_limit);
    end if;
    if p_mode in ('hybrid', 'vector') then
        v_vector := ragpg._vector_standing(p_ranking, p_document_id, v_chunk_ids, p_limit, p_is_visible);
    end if;
    return coalesce(v_keyword, '{}') || coalesce(v_vector, '{}') || jsonb_build_object(
        'causes', coalesce(v_keyword -> 'causes', '[]') || coalesce(v_vector -> 'causes', '[]')
    );
end;
$$;

COMMENT ON FUNCTION ragpg._standing_in_legs(p_ranking ragpg._ranking, p_mode text, p_query text, p_document_id uuid, p_limit integer, p_is_visible boolean) IS 'Where a document stands in the legs of a search, and which causes of its absence follow; a document that no search can show gets the rank it would have.';

CREATE FUNCTION ragpg._terms_of(p_scope ragpg._scope, p_lexemes text[], p_counts integer[]) RETURNS ragpg._terms
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    SET jit TO 'off'
    AS $$
declare
    v_considered constant integer := 512;
    v_term_limit constant integer := 64;
    v_lexemes text[] := p_lexemes;
    v_counts integer[] := p_counts;
    v_degraded text[] := '{}';
    v_terms ragpg._terms;
begin
    -- said by the query's length alone, so that it tells nothing of what hidden documents hold
    if cardinality(v_lexemes) > v_term_limit then
        v_degraded := array['term_cap'];
    end if;
    if cardinality(v_lexemes) > v_considered then
        select array_agg(item.lexeme order by item.place), array_agg(item.occurrences order by item.place)
        into v_lexemes, v_counts
        from (
            select *, row_number() over (order by term.occurrences desc, length(term.lexeme) desc, term.lexeme) as place
            from ragpg._occurring(p_scope, v_lexemes, v_counts) as term
        ) as item
        where item.place <= v_considered;
    end if;

    v_terms := case when p_scope.idf = 'visible' then ragpg._visible_counts(p_scope) else ragpg._corpus_counts(p_scope) end;
    v_degraded := v_degraded || v_terms.degraded;

    select
        array_agg(item.lexeme order by item.df, item.lexeme),
        array_agg(item.query order by item.df, item.lexeme),
        array_agg(item.df order by item.df, item.lexeme),
        array_agg(item.idf order by item.df, item.lexeme),
        array_agg(item.weight order by item.df, item.lexeme),
        array_agg(item.weight * item.largest order by item.df, item.lexeme)
    into v_terms.lexemes, v_terms.queries, v_terms.document_frequencies, v_terms.idfs, v_terms.weights, v_terms.bounds
    from (
        select
            ranked.*,
            ranked.occurrences * ranked.idf * (p_scope.bm25_k1 + 1) as weight
        from (
            select
                known.*,
                -- Robertson and Spärck Jones' idf with 1 added inside the logarithm, so that it is never negative (as in Lucene)
                ln(1 + (greatest(v_terms.chunk_count, known.df) - known.df + 0.5) / (known.df + 0.5)) as idf,
                row_number() over (order by known.df, known.lexeme) as place
            from (
                select
                    term.lexeme,
                    term.occurrences,
                    query.query,
                    coalesce(
                        case when p_scope.idf = 'corpus' and not v_terms.every_match then statistic.document_frequency end,
                        ragpg._document_frequency(p_scope, query.query)
                    ) as df,
                    case
                        when p_scope.idf = 'corpus' and p_scope.bounds_valid and statistic.max_impact is not null then statistic.max_impact
                        else 1
                    end as largest
                from unnest(v_lexemes, v_counts) as term (lexeme, occurrences)
                cross join lateral (select ragpg._any_of(array[term.lexeme]) as query) as query
                left join ragpg.lexeme_stat as statistic
                    on statistic.index_version_id = p_scope.index_version_id and statistic.lexeme = term.lexeme
            ) as known
            where known.df > 0
        ) as ranked
        where ranked.place <= v_term_limit
    ) as item;

    v_terms.degraded := v_degraded;
    return v_terms;
end;
$$;

COMMENT ON FUNCTION ragpg._terms_of(p_scope ragpg._scope, p_lexemes text[], p_counts integer[]) IS 'The query''s lexemes with document frequency, idf, weight and bound, rarest first. Frequencies are counted live in small collections and for lexemes without statistics; of a very long query the rarest 64 terms are kept (term_cap).';

CREATE FUNCTION ragpg._to_halfvec(p_embedding public.vector) RETURNS public.halfvec
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT (p_embedding)::public.halfvec AS p_embedding;
END;

COMMENT ON FUNCTION ragpg._to_halfvec(p_embedding public.vector) IS 'The vector in half precision, as it is stored.';

CREATE FUNCTION ragpg._to_vector(p_embedding public.halfvec) RETURNS public.vector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT (p_embedding)::public.vector AS p_embedding;
END;

COMMENT ON FUNCTION ragpg._to_vector(p_embedding public.halfvec) IS 'The stored half-precision vector in single precision.';

CREATE FUNCTION ragpg._vector_leg(p_scope ragpg._scope, p_embedding public.halfvec, p_limit integer) RETURNS ragpg._leg
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    v_hnsw_dimensions constant integer := 4000;
    v_short_walk constant integer := 1200;
    v_long_walk constant integer := 8000;
    v_scope ragpg._scope := p_scope;
    v_path text := 'exact';
    v_why text;
    v_leg ragpg._leg;
    v_degraded text[] := '{}';
begin
    if p_embedding is null then
        v_leg := row('{}', '{}', '{}', array['no_query_embedding'], jsonb_build_object('path', 'none', 'why', 'no query embedding'));
        return v_leg;
    end if;
    if p_scope.is_narrow then
        v_why := format('few chunks are visible: up to %s it is quicker to compare each', p_scope.narrow_limit);
    elsif p_scope.dimensions > v_hnsw_dimensions then
        v_why := format('vectors of more than %s dimensions have no index', v_hnsw_dimensions);
    else
        v_path := 'hnsw';
        v_why := format('more than %s chunks are visible', p_scope.narrow_limit);
        if p_scope.every_document and p_scope.filter is null then
            -- nearly all that is passed counts, so that fewer candidates are as good
            v_leg := ragpg._nearest_hnsw(p_scope, p_embedding, p_limit, 2 * p_limit, least(greatest(4 * p_limit, 150), 400));
        end if;
        if v_leg.chunk_ids is null or cardinality(v_leg.chunk_ids) < p_limit then
            v_leg := ragpg._nearest_hnsw(p_scope, p_embedding, p_limit, v_short_walk);
        end if;
        if cardinality(v_leg.chunk_ids) < p_limit then
            -- what is visible lies far from the query: the way through the graph is long, and gets inexact
            v_scope := ragpg._measure_visibility(p_scope, 8 * p_scope.narrow_limit);
            if not v_scope.is_narrow then
                v_leg := ragpg._nearest_hnsw(p_scope, p_embedding, p_limit, v_long_walk);
            end if;
            if cardinality(v_leg.chunk_ids) < p_limit then
                v_path := 'exact';
                v_why := 'the visible chunks lie too far from the query for the index to find a full page of them';
                -- that tells of what lies between, hidden documents too: a reader is not told
                v_degraded := case when ragpg._may_choose_principals() then array['exact_fallback'] else '{}' end;
            end if;
        end if;
    end if;
    if v_path = 'exact' then
        v_leg := ragpg._nearest_exact(v_scope, p_embedding, p_limit);
    end if;
    if p_scope.is_active and exists (
        select from ragpg.document
        where
            document.collection_id = p_scope.collection_id and document.indexed_at is null
            and document.tenant_id = p_scope.tenant_id
            and (p_scope.every_document or document.acl && p_scope.principals)
            and (document.expires_at is null or document.expires_at > now())
    ) then
        v_degraded := v_degraded || 'stale_embeddings'::text;
    end if;
    v_leg.degraded := v_degraded;
    v_leg.detail := jsonb_build_object('path', v_path, 'why', v_why, 'candidates', cardinality(v_leg.chunk_ids));
    return v_leg;
end;
$$;

COMMENT ON FUNCTION ragpg._vector_leg(p_scope ragpg._scope, p_embedding public.halfvec, p_limit integer) IS 'The nearest visible chunks: exact where the caller may see few, HNSW where many, exact again where HNSW came back short. The choice is by counting, never by a guess.';

CREATE FUNCTION ragpg._vector_schema() RETURNS name
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT namespace.nspname
    FROM (pg_extension extension
      JOIN pg_namespace namespace ON ((namespace.oid = extension.extnamespace)))
   WHERE (extension.extname = 'vector'::name);
END;

COMMENT ON FUNCTION ragpg._vector_schema() IS 'The schema that pgvector lives in, wherever it was put.';

CREATE FUNCTION ragpg._vector_standing(p_ranking ragpg._ranking, p_document_id uuid, p_chunk_ids uuid[], p_limit integer, p_is_visible boolean) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_distances double precision[];
    v_standing record;
    v_vectors integer;
    v_causes jsonb := '[]';
    v_body jsonb;
begin
    if (p_ranking).query_embedding is null then
        return jsonb_build_object('vector', jsonb_build_object('compared', 0), 'causes', v_causes);
    end if;
    v_distances := ragpg._distances(
        (p_ranking).scope, (p_ranking).query_embedding, array_fill(p_document_id, array[cardinality(p_chunk_ids)]), p_chunk_ids
    );
    v_vectors := (select count(item.distance) from unnest(v_distances) as item (distance));
    v_standing := ragpg._standing(
        ragpg._nearest_exact((p_ranking).scope, (p_ranking).query_embedding, 2147483647),
        -- a vector of zeros has no direction, so no rank
        p_document_id, p_chunk_ids, array_replace(v_distances, 'NaN', null), true, p_limit
    );
    v_body := jsonb_build_object(
        'rank', v_standing.o_rank, 'distance', v_standing.o_score, 'compared', v_standing.o_compared,
        'last_rank', v_standing.o_last_rank, 'last_distance', v_standing.o_last_score
    );
    if v_vectors < cardinality(p_chunk_ids) then
        v_causes := v_causes || jsonb_build_object(
            'cause', 'vectors_pending', 'chunks', cardinality(p_chunk_ids), 'embeddings', v_vectors
        );
    elsif v_standing.o_rank is null then
        v_causes := v_causes || jsonb_build_object('cause', 'vectors_of_zeros', 'chunks', cardinality(p_chunk_ids));
    end if;
    if v_standing.o_rank > p_limit then
        v_causes := v_causes || (jsonb_build_object('cause', 'outranked', 'leg', 'vector') || v_body);
    elsif p_is_visible and v_standing.o_rank is not null and not exists (
        select from unnest((p_ranking).document_ids, (p_ranking).vector_ranks) as candidate (document_id, vector_rank)
        where candidate.document_id = p_document_id and candidate.vector_rank is not null
    ) then
        v_causes := v_causes || (jsonb_build_object('cause', 'missed_by_index') || v_body);
    end if;
    return jsonb_build_object('vector', v_body || jsonb_build_object('chunk_id', v_standing.o_chunk_id), 'causes', v_causes);
end;
$$;

COMMENT ON FUNCTION ragpg._vector_standing(p_ranking ragpg._ranking, p_document_id uuid, p_chunk_ids uuid[], p_limit integer, p_is_visible boolean) IS 'Where a document stands in the vector leg, by its nearest chunk among all visible vectors; missed_by_index where it should be a candidate and the approximate index did not find it.';

CREATE FUNCTION ragpg._visible_counts(p_scope ragpg._scope) RETURNS ragpg._terms
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    SET jit TO 'off'
    AS $$
declare
    v_every_match_limit constant integer := 10000;
    v_terms ragpg._terms;
begin
    select count(*), greatest(coalesce(avg(chunk.lexeme_count), 1), 1)
    into v_terms.chunk_count, v_terms.average_length
    from ragpg.document
    join ragpg.chunk on chunk.document_id = document.id
    where
        chunk.index_version_id = p_scope.index_version_id
        and document.collection_id = p_scope.collection_id and document.tenant_id = p_scope.tenant_id
        and (p_scope.every_document or document.acl && p_scope.principals)
        and (document.expires_at is null or document.expires_at > now());
    v_terms.every_match := v_terms.chunk_count <= v_every_match_limit;
    v_terms.degraded := '{}';
    return v_terms;
end;
$$;

COMMENT ON FUNCTION ragpg._visible_counts(p_scope ragpg._scope) IS 'How many chunks the caller''s permissions show (filters aside) and how long they are on average.';

CREATE FUNCTION ragpg._visible_documents(p_scope ragpg._scope, p_limit integer, OUT o_ids uuid[], OUT o_bytes bigint) RETURNS record
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    SET jit TO 'off'
    AS $$
begin
    select coalesce(array_agg(visible.id), '{}'), coalesce(sum(visible.bytes), 0)
    into o_ids, o_bytes
    from (
        select
            document.id,
            octet_length(document.content) as bytes
        from ragpg.document
        where
            document.collection_id = p_scope.collection_id and document.tenant_id = p_scope.tenant_id
            and (p_scope.every_document or document.acl && p_scope.principals)
            and (document.expires_at is null or document.expires_at > now())
            and (p_scope.filter is null or document.metadata @@ p_scope.filter)
        limit p_limit
    ) as visible;
end;
$$;

COMMENT ON FUNCTION ragpg._visible_documents(p_scope ragpg._scope, p_limit integer, OUT o_ids uuid[], OUT o_bytes bigint) IS 'The documents that the caller may see through p_filter, up to p_limit of them, and the length of their text in bytes.';

CREATE FUNCTION ragpg._weighted_sum(p_embeddings public.halfvec[], p_weights double precision[]) RETURNS public.halfvec
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT ((array_agg((axis.value / axis.largest) ORDER BY axis.place))::real[])::public.halfvec AS array_agg
    FROM ( SELECT component.place,
             sum(((item.weight * component.value) / GREATEST(public.l2_norm(item.embedding), (0.000000000001)::double precision))) AS value,
             max(abs(sum(((item.weight * component.value) / GREATEST(public.l2_norm(item.embedding), (0.000000000001)::double precision))))) OVER () AS largest
            FROM (UNNEST(_weighted_sum.p_embeddings, _weighted_sum.p_weights) item(embedding, weight)
              CROSS JOIN LATERAL unnest((item.embedding)::real[]) WITH ORDINALITY component(value, place))
           GROUP BY component.place) axis
   WHERE (axis.largest > (0)::double precision);
END;

COMMENT ON FUNCTION ragpg._weighted_sum(p_embeddings public.halfvec[], p_weights double precision[]) IS 'The direction of the sum of the vectors'' directions, each times its weight. Null for no vector, and where they cancel out.';

CREATE FUNCTION ragpg._word_parts(p_text text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT COALESCE(ragpg._fold(string_agg(regexp_replace(regexp_replace(regexp_replace(found.token[1], '([[:lower:]])([[:upper:]])'::text, '\1 \2'::text, 'g'::text), '([[:upper:]])([[:upper:]][[:lower:]]{2})'::text, '\1 \2'::text, 'g'::text), '([[:alpha:]])(?=[0-9])|([0-9])(?=[[:alpha:]])'::text, '\1\2 '::text, 'g'::text), ' '::text ORDER BY found.place)), ''::text) AS "coalesce"
    FROM regexp_matches(_word_parts.p_text, '([[:alnum:]]*(?:[[:lower:]][[:upper:]]|[[:upper:]]{2}[[:lower:]]{2}|[[:alpha:]][0-9]|[0-9][[:alpha:]])[[:alnum:]]*)'::text, 'g'::text) WITH ORDINALITY found(token, place)
   WHERE (length(found.token[1]) <= 255);
END;

COMMENT ON FUNCTION ragpg._word_parts(p_text text) IS 'The parts of words written in CamelCase or of letters and digits together (getUserName: get User Name, HTTPServer: HTTP Server, SKU12: SKU 12), as one text.';

CREATE FUNCTION ragpg._words(p_config regconfig, p_text text) RETURNS tsvector
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_words tsvector := to_tsvector(p_config, p_text);
    v_has_stop_words constant boolean := p_config <> 'pg_catalog.simple'::regconfig;
    v_simple constant tsvector := case when v_has_stop_words then to_tsvector('pg_catalog.simple', p_text) else v_words end;
    v_accented text[];
    v_places text[];
    v_more text;
begin
    if octet_length(p_text) = length(p_text) or p_text !~ ragpg._accented() then
        if not v_has_stop_words then
            return v_words;
        end if;
        -- where the configuration left a gap between its words there was a stop word
        v_more := (
            select string_agg('''~' || word.lexeme || ''':' || array_to_string(word.positions, ','), ' ')
            from unnest(v_simple) as word
            where word.positions[1] not in (select unnest(known.positions) from unnest(v_words) as known)
        );
        return case when v_more is null then v_words else (v_words::text || ' ' || v_more)::tsvector end;
    end if;

    select
        string_agg('''~' || word.lexeme || ''':' || word.places, ' ') filter (where not word.is_known),
        array_agg(word.lexeme) filter (where word.is_known and octet_length(word.lexeme) > length(word.lexeme)),
        array_agg(word.places) filter (where word.is_known and octet_length(word.lexeme) > length(word.lexeme))
    into v_more, v_accented, v_places
    from (
        select
            item.lexeme,
            array_to_string(item.positions, ',') as places,
            item.positions[1] in (select unnest(known.positions) from unnest(v_words) as known) as is_known
        from unnest(v_simple) as item
        -- a fence: looked up once a word, not once an aggregate
        offset 0
    ) as word;
    -- at its place a word stands without accents as its stem, and as the stem of what is typed without accents
    -- (résumé: resume, resum), where the two differ
    v_more := concat_ws(
        ' ',
        v_more,
        (
            select string_agg(ragpg._quoted(stem.lexeme) || ':' || v_places[stem.place], ' ')
            from (
                select form.lexeme, unnest(form.positions) as place
                from unnest(to_tsvector(p_config, ragpg._fold(array_to_string(v_accented, ' ')))) as form
            ) as stem
        )
    );
    if v_words::text ~ ragpg._accented() then
        select
            concat_ws(' ', v_more, string_agg(ragpg._quoted(word.lexeme) || ':' || array_to_string(word.positions, ','), ' ')),
            ts_delete(v_words, array_agg(word.lexeme))
        into v_more, v_words
        from unnest(v_words) as word
        where word.lexeme ~ ragpg._accented();
    end if;
    -- of a combining mark by itself nothing is left
    return concat_ws(' ', v_words::text, regexp_replace(ragpg._fold(v_more), '(^| )'''':[0-9,]+', '', 'g'))::tsvector;
end;
$$;

COMMENT ON FUNCTION ragpg._words(p_config regconfig, p_text text) IS 'The words of a text as the given configuration stems them, without accents, each at its place; and its stop words, marked ~.';

CREATE FUNCTION ragpg._write_chunks(p_index_version bigint, p_document_id uuid, p_language text, p_language_changed boolean, p_rows ragpg.chunk[], p_embeddings public.vector[], p_dimensions integer, OUT o_written integer, OUT o_deleted integer, OUT o_embedded integer) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    SET enable_nestloop TO 'off'
    AS $$
declare
    v_config constant regconfig := p_language::regconfig;
    v_written_at timestamptz;
    v_count integer;
begin
    o_written := 0;
    o_deleted := 0;
    o_embedded := 0;
    if p_rows is null and p_language_changed is not true then
        return;
    end if;
    if p_embeddings is not null and cardinality(p_embeddings) <> coalesce(cardinality(p_rows), 0) then
        raise exception using
            errcode = 'RG007',
            message = format('%s embeddings for %s chunks', cardinality(p_embeddings), coalesce(cardinality(p_rows), 0)),
            hint = 'p_embeddings has one element a chunk; NULL keeps the vector the chunk already has.';
    end if;
    perform ragpg._check_dimensions(p_embeddings, p_dimensions, p_index_version);
    perform ragpg._announce_write(p_index_version);
    v_written_at := clock_timestamp();

    if p_rows is not null then
        delete from ragpg.chunk
        where
            chunk.index_version_id = p_index_version and chunk.document_id = p_document_id
            and not exists (select from unnest(p_rows) as given where given.id = chunk.id);
        get diagnostics o_deleted = row_count;

        -- under another heading the text means something else to the model
        delete from ragpg.embedding
        using unnest(p_rows) as given, ragpg.chunk
        where
            embedding.index_version_id = p_index_version and embedding.document_id = p_document_id and embedding.chunk_id = given.id
            and chunk.index_version_id = p_index_version and chunk.document_id = p_document_id and chunk.id = given.id
            and chunk.heading <> given.heading;

        -- after an edit further up, most chunks have only moved: that touches no index
        update ragpg.chunk
        set
            ordinal = given.ordinal, section_path = given.section_path, kind = given.kind,
            char_start = given.char_start, char_end = given.char_end,
            parent_start = given.parent_start, parent_end = given.parent_end,
            page_start = given.page_start, page_end = given.page_end,
            token_count = given.token_count, metadata = given.metadata
        from unnest(p_rows) as given
        where
            chunk.index_version_id = p_index_version and chunk.document_id = p_document_id and chunk.id = given.id
            and chunk.heading = given.heading
            and row(
                chunk.ordinal, chunk.section_path, chunk.kind, chunk.char_start, chunk.char_end, chunk.parent_start, chunk.parent_end,
                chunk.page_start, chunk.page_end, chunk.token_count, chunk.metadata
            ) is distinct from row(
                given.ordinal, given.section_path, given.kind, given.char_start, given.char_end, given.parent_start, given.parent_end,
                given.page_start, given.page_end, given.token_count, given.metadata
            );
        get diagnostics o_written = row_count;

        update ragpg.chunk
        set
            ordinal = given.ordinal, heading = given.heading, section_path = given.section_path, kind = given.kind,
            char_start = given.char_start, char_end = given.char_end,
            parent_start = given.parent_start, parent_end = given.parent_end,
            page_start = given.page_start, page_end = given.page_end,
            token_count = given.token_count, metadata = given.metadata,
            content_tsv = analysed.tsv, lexeme_count = ragpg._lexeme_count(analysed.tsv), written_at = v_written_at
        from unnest(p_rows) as given
        cross join lateral ragpg._analyze(v_config, given.heading || E'\n' || given.content) as analysed (tsv)
        where
            chunk.index_version_id = p_index_version and chunk.document_id = p_document_id and chunk.id = given.id
            and chunk.heading <> given.heading;
        get diagnostics v_count = row_count;
        o_written := o_written + v_count;

        insert into ragpg.chunk (
            index_version_id, document_id, id, ordinal, content, heading, section_path, kind, char_start, char_end,
            parent_start, parent_end, page_start, page_end, token_count, metadata, content_tsv, lexeme_count, written_at
        )
        select
            given.index_version_id, given.document_id, given.id, given.ordinal, given.content, given.heading, given.section_path,
            given.kind, given.char_start, given.char_end, given.parent_start, given.parent_end, given.page_start, given.page_end,
            given.token_count, given.metadata, analysed.tsv, ragpg._lexeme_count(analysed.tsv), v_written_at
        from unnest(p_rows) as given
        cross join lateral ragpg._analyze(v_config, given.heading || E'\n' || given.content) as analysed (tsv)
        where not exists (
            select from ragpg.chunk
            where chunk.index_version_id = p_index_version and chunk.document_id = p_document_id and chunk.id = given.id
        );
        get diagnostics v_count = row_count;
        o_written := o_written + v_count;
    end if;

    if p_language_changed then
        update ragpg.chunk
        set content_tsv = analysed.tsv, lexeme_count = ragpg._lexeme_count(analysed.tsv), written_at = v_written_at
        from ragpg.chunk as old
        cross join lateral ragpg._analyze(v_config, old.heading || E'\n' || old.content) as analysed (tsv)
        where
            old.index_version_id = p_index_version and old.document_id = p_document_id
            and chunk.index_version_id = p_index_version and chunk.document_id = p_document_id and chunk.id = old.id
            and chunk.content_tsv is distinct from analysed.tsv;
    end if;

    insert into ragpg.embedding (index_version_id, document_id, chunk_id, embedding)
    select p_index_version, p_document_id, given.id, ragpg._to_halfvec(vector.embedding)
    from unnest(p_rows) as given
    join unnest(p_embeddings) with ordinality as vector (embedding, place) on vector.place = given.ordinal + 1
    where vector.embedding is not null
    on conflict (index_version_id, document_id, chunk_id) do update set embedding = excluded.embedding
    where not ragpg._is_same(embedding.embedding, excluded.embedding);
    get diagnostics o_embedded = row_count;
end;
$$;

COMMENT ON FUNCTION ragpg._write_chunks(p_index_version bigint, p_document_id uuid, p_language text, p_language_changed boolean, p_rows ragpg.chunk[], p_embeddings public.vector[], p_dimensions integer, OUT o_written integer, OUT o_deleted integer, OUT o_embedded integer) IS 'Brings the chunks of a document to the given rows: what stayed the same is not written, what moved keeps its analysis and its vector. RG005, RG007.';

CREATE FUNCTION ragpg._write_horizon(p_index_version bigint) RETURNS timestamp with time zone
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_now constant timestamptz := clock_timestamp();
begin
    return coalesce(
        (
            select least(v_now, to_timestamp(min(lock.objid::bigint)))
            from pg_locks as lock
            where
                lock.locktype = 'advisory' and lock.objsubid = 2 and lock.granted
                and lock.database = (select database.oid from pg_database as database where database.datname = current_database())
                and lock.classid::bigint = ragpg._write_lock_class(p_index_version)::bigint & 4294967295
        ),
        v_now
    );
end;
$$;

COMMENT ON FUNCTION ragpg._write_horizon(p_index_version bigint) IS 'The instant before which every chunk of the index version was written by a transaction that has ended.';

CREATE FUNCTION ragpg._write_lock_class(p_index_version bigint) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT hashtext(('ragpg write '::text || p_index_version)) AS hashtext;
END;

COMMENT ON FUNCTION ragpg._write_lock_class(p_index_version bigint) IS 'The class of the advisory locks of those who write to an index version.';

CREATE FUNCTION ragpg.activate_index_version(p_collection text, p_index_version bigint) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    v_version record;
begin
    perform pg_advisory_xact_lock(ragpg._activation_lock(p_collection));
    v_version := ragpg._index_version(p_collection, p_index_version);
    if p_index_version is null then
        raise exception using errcode = 'RG007', message = 'p_index_version is null';
    end if;
    -- dropping takes the same lock: what is looked at here is still there when it becomes active
    perform 1 from ragpg.collection where id = v_version.collection_id for no key update;
    v_version := ragpg._index_version(p_collection, p_index_version);
    if exists (select from ragpg.document where collection_id = v_version.collection_id)
        and not exists (select from ragpg.chunk where index_version_id = p_index_version) then
        raise exception using
            errcode = 'RG011',
            message = format('index version %s holds no chunks, and collection %L has documents', p_index_version, p_collection),
            hint = 'Write the documents to it first: searches would find nothing.';
    end if;
    update ragpg.collection set active_index_version_id = p_index_version where id = v_version.collection_id;
    update ragpg.index_version set status = 'retired'
    where collection_id = v_version.collection_id and status = 'active' and id <> p_index_version;
    update ragpg.index_version set status = 'active', activated_at = clock_timestamp()
    where collection_id = v_version.collection_id and id = p_index_version and status <> 'active';
    -- indexed_at speaks of the active version: only documents for which that changes are written
    update ragpg.document
    set indexed_at = case when state.complete then state.now end
    from (
        select
            target.id,
            clock_timestamp() as now,
            exists (
                select from ragpg.chunk where chunk.index_version_id = p_index_version and chunk.document_id = target.id
            )
            and (v_version.dimensions is null or not exists (
                select from ragpg.chunk
                where
                    chunk.index_version_id = p_index_version
                    and chunk.document_id = target.id
                    and not exists (
                        select from ragpg.embedding
                        where
                            embedding.index_version_id = p_index_version
                            and embedding.document_id = chunk.document_id
                            and embedding.chunk_id = chunk.id
                    )
            )) as complete
        from ragpg.document as target
        where target.collection_id = v_version.collection_id
    ) as state
    where document.id = state.id and state.complete <> (document.indexed_at is not null);
end;
$$;

COMMENT ON FUNCTION ragpg.activate_index_version(p_collection text, p_index_version bigint) IS 'Makes an index version the one that searches use, and retires the one before, which is kept: activating it again rolls back. Documents whose text changed meanwhile have no chunks in it until they are written to it. RG001, RG004, RG007, RG011.';

CREATE FUNCTION ragpg.collection_stats(p_collection text DEFAULT NULL::text) RETURNS TABLE(name text, language text, chunking jsonb, embedding_provider text, embedding_model text, dimensions integer, active_index_version bigint, documents bigint, chunks bigint, embeddings bigint, pending bigint, indexed_at timestamp with time zone, statistics_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
begin
    if p_collection is not null then
        perform ragpg._index_version(p_collection);
    end if;
    return query
    select
        collection.name,
        collection.language,
        version.chunking,
        version.embedding_provider,
        version.embedding_model,
        version.dimensions,
        version.id,
        (select count(*) from ragpg.document where document.collection_id = collection.id),
        (select count(*) from ragpg.chunk where chunk.index_version_id = version.id),
        (select count(*) from ragpg.embedding where embedding.index_version_id = version.id),
        (select count(*) from ragpg.document where document.collection_id = collection.id and document.indexed_at is null),
        (select max(document.indexed_at) from ragpg.document where document.collection_id = collection.id),
        version.statistics_at
    from ragpg.collection
    join ragpg.index_version as version on version.id = collection.active_index_version_id
    where p_collection is null or collection.name = p_collection
    order by collection.name;
end;
$$;

COMMENT ON FUNCTION ragpg.collection_stats(p_collection text) IS 'One row a collection, or all of them: model, documents, chunks, embeddings of the active index version, documents that wait for vectors (pending). It counts every document, so it is not for readers. RG001.';

CREATE FUNCTION ragpg.create_collection(p_name text, p_language text DEFAULT 'english'::text, p_chunking jsonb DEFAULT '{}'::jsonb, p_default_acl text[] DEFAULT '{public}'::text[], p_embedding_provider text DEFAULT NULL::text, p_embedding_model text DEFAULT NULL::text, p_embedding_dimensions integer DEFAULT NULL::integer, p_query_prefix text DEFAULT ''::text, p_document_prefix text DEFAULT ''::text) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_collection_id bigint;
begin
    if p_name is null or p_name !~ '\S' or length(p_name) > 200 then
        raise exception using errcode = 'RG007', message = 'p_name must be 1 to 200 characters, not only spaces';
    end if;
    perform ragpg._check_acl(p_default_acl);
    insert into ragpg.collection (name, language, chunking, default_acl)
    values (p_name, ragpg._language(p_language), coalesce(p_chunking, '{}'), p_default_acl)
    on conflict (name) do nothing
    returning id into v_collection_id;
    if v_collection_id is null then
        raise exception using
            errcode = 'RG002',
            message = format('there is a collection %L already', p_name),
            hint = 'Use it, choose another name, or drop it with ragpg.drop_collection.';
    end if;
    perform ragpg.activate_index_version(
        p_name,
        ragpg.create_index_version(
            p_name, p_chunking, p_embedding_provider, p_embedding_model, p_embedding_dimensions, p_query_prefix, p_document_prefix
        )
    );
    return v_collection_id;
end;
$$;

COMMENT ON FUNCTION ragpg.create_collection(p_name text, p_language text, p_chunking jsonb, p_default_acl text[], p_embedding_provider text, p_embedding_model text, p_embedding_dimensions integer, p_query_prefix text, p_document_prefix text) IS 'Makes a collection and its first index version, active at once; returns its id. Without an embedding model it is searched by keyword only. RG002, RG007.';

CREATE FUNCTION ragpg.create_index_version(p_collection text, p_chunking jsonb DEFAULT NULL::jsonb, p_embedding_provider text DEFAULT NULL::text, p_embedding_model text DEFAULT NULL::text, p_embedding_dimensions integer DEFAULT NULL::integer, p_query_prefix text DEFAULT NULL::text, p_document_prefix text DEFAULT NULL::text) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_hnsw_dimensions constant integer := 4000;
    v_halfvec_dimensions constant integer := 16000;
    v_collection record;
    v_active ragpg.index_version%rowtype;
    v_new ragpg.index_version%rowtype;
    v_chunks name;
    v_embeddings name;
begin
    -- in the order in which writes take them, so that nobody waits in a circle
    lock table ragpg.document, ragpg.chunk, ragpg.embedding in share row exclusive mode;
    select collection.id, collection.active_index_version_id, collection.chunking
    into v_collection
    from ragpg.collection
    where collection.name = p_collection
    for no key update;
    if not found then
        perform ragpg._index_version(p_collection);
    end if;
    select * into v_active from ragpg.index_version where id = v_collection.active_index_version_id;

    v_new.chunking := coalesce(p_chunking, v_active.chunking, v_collection.chunking);
    if num_nonnulls(p_embedding_provider, p_embedding_model, p_embedding_dimensions) = 0 then
        v_new.embedding_provider := v_active.embedding_provider;
        v_new.embedding_model := v_active.embedding_model;
        v_new.dimensions := v_active.dimensions;
        v_new.query_prefix := coalesce(p_query_prefix, v_active.query_prefix, '');
        v_new.document_prefix := coalesce(p_document_prefix, v_active.document_prefix, '');
    elsif num_nulls(p_embedding_provider, p_embedding_model, p_embedding_dimensions) = 0
        and p_embedding_dimensions between 1 and v_halfvec_dimensions then
        v_new.embedding_provider := p_embedding_provider;
        v_new.embedding_model := p_embedding_model;
        v_new.dimensions := p_embedding_dimensions;
        v_new.query_prefix := coalesce(p_query_prefix, '');
        v_new.document_prefix := coalesce(p_document_prefix, '');
    else
        raise exception using
            errcode = 'RG007',
            message = 'an embedding model needs provider, model and dimensions (1 to 16000), or none of the three',
            hint = 'For example ''openai'', ''text-embedding-3-small'', 1536.';
    end if;

    insert into ragpg.index_version (
        collection_id, chunking, embedding_provider, embedding_model, dimensions, query_prefix, document_prefix, status
    )
    values (
        v_collection.id, v_new.chunking, v_new.embedding_provider, v_new.embedding_model, v_new.dimensions,
        v_new.query_prefix, v_new.document_prefix, 'building'
    )
    returning id into v_new.id;

    v_chunks := 'chunk_v' || v_new.id;
    v_embeddings := 'embedding_v' || v_new.id;
    -- made first and attached then: `create table … partition of` would lock every search out until the transaction ends
    execute format('create table ragpg.%I (like ragpg.chunk including all)', v_chunks);
    -- the keyword index is read on every search; its vectors stay in the row, and the text goes out of it instead
    execute format('alter table ragpg.%I set (toast_tuple_target = 4080)', v_chunks);
    execute format('alter table ragpg.%I enable row level security', v_chunks);
    execute format('create index on ragpg.%I using gin (content_tsv) with (fastupdate = off)', v_chunks);
    execute format('create index on ragpg.%I using gin (metadata jsonb_path_ops)', v_chunks);
    execute format('create index on ragpg.%I (written_at)', v_chunks);
    execute format('alter table ragpg.chunk attach partition ragpg.%I for values in (%s)', v_chunks, v_new.id);
    execute format('create table ragpg.%I (like ragpg.embedding including all)', v_embeddings);
    execute format('alter table ragpg.embedding attach partition ragpg.%I for values in (%s)', v_embeddings, v_new.id);
    execute format('alter table ragpg.%I enable row level security', v_embeddings);
    if v_new.dimensions <= v_hnsw_dimensions then
        execute format(
            'create index on ragpg.%I using hnsw ((embedding::%I.halfvec(%s)) %I.halfvec_cosine_ops)',
            v_embeddings, ragpg._vector_schema(), v_new.dimensions, ragpg._vector_schema()
        );
    end if;
    execute format('comment on table ragpg.%I is %L', v_chunks, format('Chunks of index version %s.', v_new.id));
    execute format('comment on table ragpg.%I is %L', v_embeddings, format('Embeddings of index version %s.', v_new.id));
    return v_new.id;
end;
$$;

COMMENT ON FUNCTION ragpg.create_index_version(p_collection text, p_chunking jsonb, p_embedding_provider text, p_embedding_model text, p_embedding_dimensions integer, p_query_prefix text, p_document_prefix text) IS 'Makes an index version beside the active one: its partitions and indexes, status building. What is null is taken from the active version. Returns its id. RG001, RG007.';

CREATE FUNCTION ragpg.delete_document(p_collection text, p_external_id text, p_tenant_id text DEFAULT NULL::text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
begin
    perform ragpg._index_version(p_collection);
    delete from ragpg.document
    where id = ragpg._document_id(p_collection, coalesce(p_tenant_id, ragpg._current_tenant_id()), p_external_id);
    return found;
end;
$$;

COMMENT ON FUNCTION ragpg.delete_document(p_collection text, p_external_id text, p_tenant_id text) IS 'Deletes a document with its chunks and embeddings of every index version; false where there is none. RG001.';

CREATE FUNCTION ragpg.drop_collection(p_name text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    v_version record;
begin
    perform ragpg._lock_for_dropping(ragpg._lock_patience());
    v_version := ragpg._index_version(p_name);
    -- the partitions go first: deleting the documents would otherwise cascade through every chunk
    perform ragpg._drop_partitions(id) from ragpg.index_version where collection_id = v_version.collection_id;
    update ragpg.collection set active_index_version_id = null where id = v_version.collection_id;
    delete from ragpg.document where collection_id = v_version.collection_id;
    delete from ragpg.collection where id = v_version.collection_id;
end;
$$;

COMMENT ON FUNCTION ragpg.drop_collection(p_name text) IS 'Drops a collection with its documents and all its index versions. RG001, 55P03.';

CREATE FUNCTION ragpg.drop_index_version(p_collection text, p_index_version bigint) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_version record;
begin
    perform ragpg._lock_for_dropping(ragpg._lock_patience());
    v_version := ragpg._index_version(p_collection, p_index_version);
    perform 1 from ragpg.collection where id = v_version.collection_id for no key update;
    if exists (select from ragpg.collection where active_index_version_id = v_version.index_version_id) then
        raise exception using
            errcode = 'RG011',
            message = format('index version %s is active', v_version.index_version_id),
            hint = 'Activate another one first.';
    end if;
    perform ragpg._drop_partitions(v_version.index_version_id);
    delete from ragpg.index_version where id = v_version.index_version_id;
end;
$$;

COMMENT ON FUNCTION ragpg.drop_index_version(p_collection text, p_index_version bigint) IS 'Drops an index version that is not active, with its chunks and embeddings: two partitions go, nothing is left to vacuum. RG001, RG004, RG011, 55P03.';

CREATE FUNCTION ragpg.explain_search(p_collection text, p_query text, p_embedding public.vector DEFAULT NULL::public.vector, p_k integer DEFAULT 10, p_principals text[] DEFAULT NULL::text[], p_tenant_id text DEFAULT NULL::text, p_filter jsonpath DEFAULT NULL::jsonpath, p_chunk_filter jsonpath DEFAULT NULL::jsonpath, p_candidate_k integer DEFAULT 50, p_rrf_k integer DEFAULT 60, p_vector_weight double precision DEFAULT 1, p_keyword_weight double precision DEFAULT 1, p_fusion text DEFAULT 'rrf'::text, p_feedback integer DEFAULT 0, p_index_version bigint DEFAULT NULL::bigint, p_mode text DEFAULT 'hybrid'::text, p_idf text DEFAULT 'corpus'::text) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_scope ragpg._scope;
    v_ranking ragpg._ranking;
begin
    perform ragpg._check_paging(p_k, p_candidate_k, p_rrf_k);
    perform ragpg._check_mode(p_mode);
    v_scope := ragpg._open_search(p_collection, p_index_version, p_principals, p_tenant_id, p_filter, p_chunk_filter, p_idf);
    v_ranking := ragpg._search(
        v_scope, p_mode, p_query, p_embedding, greatest(p_candidate_k, p_k), p_rrf_k,
        p_vector_weight, p_keyword_weight, p_fusion, p_feedback
    );
    if not ragpg._may_choose_principals() then
        -- frequencies, totals, the languages in use, and all that follows from them, speak of hidden documents too
        v_ranking.detail := (v_ranking.detail #- '{vector,path}' #- '{vector,why}')
            - array['terms', 'keyword', 'phrases', 'exclusions'];
    end if;
    return jsonb_strip_nulls(v_ranking.detail) || jsonb_build_object(
        'mode', p_mode,
        'index_version', v_scope.index_version_id,
        'tenant_id', v_scope.tenant_id,
        'principals', v_scope.principals,
        'visible_chunks', ragpg._count_visible(v_ranking.scope, 2147483647),
        'candidates', coalesce(cardinality(v_ranking.chunk_ids), 0),
        'degraded', v_ranking.degraded
    );
end;
$$;

COMMENT ON FUNCTION ragpg.explain_search(p_collection text, p_query text, p_embedding public.vector, p_k integer, p_principals text[], p_tenant_id text, p_filter jsonpath, p_chunk_filter jsonpath, p_candidate_k integer, p_rrf_k integer, p_vector_weight double precision, p_keyword_weight double precision, p_fusion text, p_feedback integer, p_index_version bigint, p_mode text, p_idf text) IS 'What a search would do and why: the terms with document frequency and idf, the path of each leg, how many chunks the caller may see, timings, degraded. A reader is not told the terms: their frequencies count documents hidden from it. RG001, RG004 to RG009.';

CREATE FUNCTION ragpg.find_document(p_collection text, p_external_id text, p_query text, p_embedding public.vector DEFAULT NULL::public.vector, p_k integer DEFAULT 10, p_principals text[] DEFAULT NULL::text[], p_tenant_id text DEFAULT NULL::text, p_filter jsonpath DEFAULT NULL::jsonpath, p_chunk_filter jsonpath DEFAULT NULL::jsonpath, p_candidate_k integer DEFAULT 50, p_rrf_k integer DEFAULT 60, p_vector_weight double precision DEFAULT 1, p_keyword_weight double precision DEFAULT 1, p_fusion text DEFAULT 'rrf'::text, p_feedback integer DEFAULT 0, p_expand text DEFAULT NULL::text, p_index_version bigint DEFAULT NULL::bigint, p_mode text DEFAULT 'hybrid'::text, p_idf text DEFAULT 'corpus'::text) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    -- as many candidates as the search of that mode takes
    v_candidate_k constant integer := case
        when p_mode = 'hybrid' then greatest(p_candidate_k, p_k)
        when p_expand is null then p_k
        else least(1000, 5 * p_k)
    end;
    v_scope ragpg._scope;
    v_id uuid;
    v_ranking ragpg._ranking;
    v_rank bigint;
    v_place integer;
    v_causes jsonb;
    v_legs jsonb;
    v_answer jsonb;
begin
    if not ragpg._caller_is_owner() then
        raise exception using
            errcode = 'RG006',
            message = format('role %I may not ask where a document is', ragpg._caller()),
            hint = 'The answer speaks of documents that are hidden from others: only the owner of schema ragpg is told.';
    end if;
    perform ragpg._check_paging(p_k, p_candidate_k, p_rrf_k);
    perform ragpg._check_mode(p_mode);
    v_scope := ragpg._open_search(p_collection, p_index_version, p_principals, p_tenant_id, p_filter, p_chunk_filter, p_idf);
    v_answer := jsonb_build_object(
        'collection', p_collection, 'external_id', p_external_id, 'tenant_id', v_scope.tenant_id,
        'index_version', v_scope.index_version_id, 'mode', p_mode, 'principals', v_scope.principals, 'found', false
    );
    select document.id into v_id
    from ragpg.document
    where
        document.collection_id = v_scope.collection_id and document.tenant_id = v_scope.tenant_id
        and document.external_id = p_external_id;
    if not found then
        return v_answer || jsonb_build_object(
            'causes', jsonb_build_array(ragpg._no_such_document(v_scope, p_external_id)), 'degraded', '[]'::jsonb
        );
    end if;

    v_ranking := ragpg._search(
        v_scope, p_mode, p_query, p_embedding, v_candidate_k, p_rrf_k, p_vector_weight, p_keyword_weight, p_fusion, p_feedback
    );
    select min(hit.ordinality) into v_rank
    from ragpg._hits(v_scope, v_ranking, p_k, p_expand) with ordinality as hit
    where hit.document_id = v_id;
    v_place := array_position(v_ranking.document_ids, v_id);
    v_causes := ragpg._causes_of_absence(v_ranking.scope, p_query, v_id);
    v_legs := ragpg._standing_in_legs(v_ranking, p_mode, p_query, v_id, v_candidate_k, v_causes = '[]');
    v_causes := v_causes || (v_legs -> 'causes');
    if v_place is not null then
        v_legs := v_legs || jsonb_build_object('fused', jsonb_build_object(
            'rank', v_place, 'score', v_ranking.scores[v_place], 'compared', cardinality(v_ranking.scores),
            'last_rank', least(p_k, cardinality(v_ranking.scores)), 'last_score', v_ranking.scores[least(p_k, cardinality(v_ranking.scores))]
        ));
        v_causes := v_causes || (jsonb_build_object('cause', 'outranked', 'leg', 'fused') || (v_legs -> 'fused'));
    end if;
    return v_answer || (v_legs - 'causes') || jsonb_build_object(
        'document', ragpg._document_card(v_ranking.scope, v_id),
        'found', v_rank is not null,
        'rank', v_rank,
        'causes', case when v_rank is null then v_causes else '[]' end,
        'degraded', v_ranking.degraded
    );
end;
$$;

COMMENT ON FUNCTION ragpg.find_document(p_collection text, p_external_id text, p_query text, p_embedding public.vector, p_k integer, p_principals text[], p_tenant_id text, p_filter jsonpath, p_chunk_filter jsonpath, p_candidate_k integer, p_rrf_k integer, p_vector_weight double precision, p_keyword_weight double precision, p_fusion text, p_feedback integer, p_expand text, p_index_version bigint, p_mode text, p_idf text) IS 'Why a document is not in the result of a search with these arguments, or at which rank it is: every cause with its evidence. Only the owner may call it. It compares with every visible chunk, so it is slower than the search. RG001, RG004 to RG009.';

CREATE FUNCTION ragpg.grant_access(p_role text, p_level text, p_principals text[] DEFAULT NULL::text[], p_tenant_id text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_reading constant text[] := array[
        'search_hybrid', 'search_keyword', 'search_vector', 'explain_search', '_index_version', '_current_principals', '_current_tenant_id'
    ];
    v_trusted constant text[] := array['_may_choose_principals', '_caller', '_cached_embeddings', '_cache_embeddings'];
    v_writing constant text[] := array[
        'create_collection', 'drop_collection', 'create_index_version', 'activate_index_version', 'drop_index_version',
        'upsert_document', 'delete_document', 'set_acl', 'refresh_statistics', 'collection_stats',
        '_document_states', '_chunk_states', '_external_ids', '_pending_chunks', '_set_embeddings',
        '_cached_embeddings', '_cache_embeddings'
    ];
    v_role oid;
    v_bound boolean;
    v_function regprocedure;
begin
    if p_level is null or p_level not in ('reader', 'trusted_reader', 'writer') then
        raise exception using
            errcode = 'RG007', message = format('p_level is %L; it must be reader, trusted_reader or writer', p_level);
    end if;
    v_role := ragpg._role(p_role);
    if p_principals is null and p_tenant_id is not null then
        raise exception using
            errcode = 'RG007',
            message = 'p_tenant_id is given without p_principals',
            hint = 'A role is bound to a tenant together with its principals there; p_principals => ''{}'' leaves it what everybody sees.';
    end if;
    -- a role that comes later under the number of a dropped one must not inherit its binding
    delete from ragpg.role_principal as binding where not exists (select from pg_roles as role where role.oid = binding.role);
    v_bound := p_principals is not null or exists (select from ragpg.role_principal as binding where binding.role = v_role);
    if v_bound and p_level <> 'reader' then
        raise exception using
            errcode = 'RG007',
            message = format('role %I is bound to principals, or is to be, and a %s is not', p_role, p_level),
            hint = 'The other levels are trusted with what they say of their users. ragpg.revoke_access(role) takes a binding back.';
    end if;

    execute format('grant usage on schema ragpg to %I', p_role);
    execute format(
        'grant select on ragpg.collection, ragpg.index_version, ragpg.document, ragpg.chunk, ragpg.embedding to %I', p_role
    );
    for v_function in
        select proc.oid::regprocedure
        from pg_proc as proc
        where
            proc.pronamespace = 'ragpg'::regnamespace
            and proc.proname = any (
                v_reading
                || case when not v_bound then array['_may_set_principals'] else '{}' end
                || case when p_level = 'trusted_reader' then v_trusted else '{}' end
                || case when p_level = 'writer' then v_writing else '{}' end
            )
    loop
        execute format('grant execute on function %s to %I', v_function, p_role);
    end loop;
    if p_principals is not null then
        perform ragpg._bind_role(p_role, p_principals, coalesce(p_tenant_id, ''));
    end if;
end;
$$;

COMMENT ON FUNCTION ragpg.grant_access(p_role text, p_level text, p_principals text[], p_tenant_id text) IS 'Lets a role use ragpg, by Postgres'' own grants. reader: search and read as the session''s own principals; trusted_reader: also pass p_principals, for an application''s server; writer: read, and write documents and collections. Levels add up. With p_principals the role is bound to these and to one tenant: what its session sets can only narrow them. Only the owner may call it. RG007.';

CREATE FUNCTION ragpg.refresh_statistics(p_collection text, p_index_version bigint DEFAULT NULL::bigint) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    -- rarer lexemes are counted live: that is cheap, and keeps the table small
    v_frequent constant integer := 100;
    -- clocks of two servers may differ after a failover
    v_margin constant interval := '1 second';
    v_version record := ragpg._index_version(p_collection, p_index_version);
    v_horizon timestamptz;
    v_k1 double precision;
    v_b double precision;
    v_chunks bigint;
    v_average double precision;
    v_documents bigint;
    v_bytes bigint;
begin
    perform 1 from ragpg.index_version where id = v_version.index_version_id for no key update;
    -- read before the snapshot below is taken: who writes later has a later written_at, who is writing now is seen in his lock
    v_horizon := ragpg._write_horizon(v_version.index_version_id) - v_margin;
    select bm25_k1, bm25_b into v_k1, v_b from ragpg.collection where id = v_version.collection_id;
    select count(*), greatest(avg(chunk.lexeme_count), 1)
    into v_chunks, v_average
    from ragpg.chunk
    where chunk.index_version_id = v_version.index_version_id;

    select count(*), sum(octet_length(document.content))
    into v_documents, v_bytes
    from ragpg.document
    where document.id in (select chunk.document_id from ragpg.chunk where chunk.index_version_id = v_version.index_version_id);

    delete from ragpg.lexeme_stat where index_version_id = v_version.index_version_id;
    insert into ragpg.lexeme_stat (index_version_id, lexeme, document_frequency, max_impact)
    select
        v_version.index_version_id,
        word.lexeme,
        count(*),
        max(1 - measured.saturation / (measured.saturation + coalesce(cardinality(word.positions), 1)))
    from (
        select chunk.content_tsv, v_k1 * (1 - v_b + v_b * chunk.lexeme_count / v_average) as saturation
        from ragpg.chunk
        where chunk.index_version_id = v_version.index_version_id
    ) as measured
    cross join lateral unnest(measured.content_tsv) as word
    group by word.lexeme
    having count(*) >= v_frequent;

    update ragpg.index_version
    set
        chunk_count = v_chunks,
        average_length = v_average,
        document_count = v_documents,
        document_bytes = v_bytes,
        statistics_k1 = v_k1,
        statistics_b = v_b,
        statistics_at = clock_timestamp(),
        statistics_horizon = v_horizon
    where id = v_version.index_version_id;
end;
$$;

COMMENT ON FUNCTION ragpg.refresh_statistics(p_collection text, p_index_version bigint) IS 'Counts the chunks, their lengths and the frequent lexemes of an index version, as ANALYZE does for tables. Run it after large changes; searches stay correct without. RG001, RG004.';

CREATE FUNCTION ragpg.revoke_access(p_role text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_role constant oid := ragpg._role(p_role);
begin
    if exists (select from pg_namespace as namespace where namespace.oid = 'ragpg'::regnamespace and namespace.nspowner = v_role) then
        raise exception using
            errcode = 'RG007',
            message = format('role %I owns schema ragpg', p_role),
            hint = 'An owner''s rights are not granted, so they can''t be revoked.';
    end if;
    execute format('revoke all on all functions in schema ragpg from %I', p_role);
    execute format('revoke all on all tables in schema ragpg from %I', p_role);
    execute format('revoke all on schema ragpg from %I', p_role);
    delete from ragpg.role_principal as binding
    where binding.role = v_role or not exists (select from pg_roles as role where role.oid = binding.role);
end;
$$;

COMMENT ON FUNCTION ragpg.revoke_access(p_role text) IS 'Takes back every level that a role was granted, and what it was bound to. Rights it has through another role stay. Only the owner may call it. RG007.';

CREATE FUNCTION ragpg.search_hybrid(p_collection text, p_query text, p_embedding public.vector DEFAULT NULL::public.vector, p_k integer DEFAULT 10, p_principals text[] DEFAULT NULL::text[], p_tenant_id text DEFAULT NULL::text, p_filter jsonpath DEFAULT NULL::jsonpath, p_chunk_filter jsonpath DEFAULT NULL::jsonpath, p_candidate_k integer DEFAULT 50, p_rrf_k integer DEFAULT 60, p_vector_weight double precision DEFAULT 1, p_keyword_weight double precision DEFAULT 1, p_fusion text DEFAULT 'rrf'::text, p_feedback integer DEFAULT 0, p_expand text DEFAULT NULL::text, p_index_version bigint DEFAULT NULL::bigint, p_idf text DEFAULT 'corpus'::text) RETURNS SETOF ragpg.search_hit
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_scope ragpg._scope;
begin
    perform ragpg._check_paging(p_k, p_candidate_k, p_rrf_k);
    v_scope := ragpg._open_search(p_collection, p_index_version, p_principals, p_tenant_id, p_filter, p_chunk_filter, p_idf);
    return query select hit.* from ragpg._hits(
        v_scope,
        ragpg._search(
            v_scope, 'hybrid', p_query, p_embedding, greatest(p_candidate_k, p_k), p_rrf_k,
            p_vector_weight, p_keyword_weight, p_fusion, p_feedback
        ),
        p_k,
        p_expand
    ) as hit;
end;
$$;

COMMENT ON FUNCTION ragpg.search_hybrid(p_collection text, p_query text, p_embedding public.vector, p_k integer, p_principals text[], p_tenant_id text, p_filter jsonpath, p_chunk_filter jsonpath, p_candidate_k integer, p_rrf_k integer, p_vector_weight double precision, p_keyword_weight double precision, p_fusion text, p_feedback integer, p_expand text, p_index_version bigint, p_idf text) IS 'Hybrid search: BM25 and vectors, fused by reciprocal rank (p_fusion rrf) or by score, over what the caller may see. Without p_embedding the query''s cached vector is used, else that of its best keyword hits (degraded: query_embedding_from_feedback). RG001, RG004 to RG009.';

CREATE FUNCTION ragpg.search_keyword(p_collection text, p_query text, p_k integer DEFAULT 10, p_principals text[] DEFAULT NULL::text[], p_tenant_id text DEFAULT NULL::text, p_filter jsonpath DEFAULT NULL::jsonpath, p_chunk_filter jsonpath DEFAULT NULL::jsonpath, p_expand text DEFAULT NULL::text, p_index_version bigint DEFAULT NULL::bigint, p_idf text DEFAULT 'corpus'::text) RETURNS SETOF ragpg.search_hit
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_scope ragpg._scope;
    v_candidate_k constant integer := case when p_expand is null then p_k else least(1000, 5 * p_k) end;
begin
    perform ragpg._check_paging(p_k, v_candidate_k, 0);
    v_scope := ragpg._open_search(p_collection, p_index_version, p_principals, p_tenant_id, p_filter, p_chunk_filter, p_idf);
    return query select hit.* from ragpg._hits(
        v_scope,
        ragpg._search(v_scope, 'keyword', p_query, null, v_candidate_k, 0, 0, 1, 'rrf', 0),
        p_k,
        p_expand
    ) as hit;
end;
$$;

COMMENT ON FUNCTION ragpg.search_keyword(p_collection text, p_query text, p_k integer, p_principals text[], p_tenant_id text, p_filter jsonpath, p_chunk_filter jsonpath, p_expand text, p_index_version bigint, p_idf text) IS 'Keyword search: the best chunks by BM25 that the caller may see. "Quoted phrases" must occur, -words must not. RG001, RG004, RG006 to RG009.';

CREATE FUNCTION ragpg.search_vector(p_collection text, p_embedding public.vector, p_k integer DEFAULT 10, p_principals text[] DEFAULT NULL::text[], p_tenant_id text DEFAULT NULL::text, p_filter jsonpath DEFAULT NULL::jsonpath, p_chunk_filter jsonpath DEFAULT NULL::jsonpath, p_expand text DEFAULT NULL::text, p_index_version bigint DEFAULT NULL::bigint, p_query text DEFAULT NULL::text) RETURNS SETOF ragpg.search_hit
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_scope ragpg._scope;
    v_candidate_k constant integer := case when p_expand is null then p_k else least(1000, 5 * p_k) end;
begin
    perform ragpg._check_paging(p_k, v_candidate_k, 0);
    if p_embedding is null then
        raise exception using
            errcode = 'RG008',
            message = 'search_vector needs p_embedding',
            hint = 'Without an embedding use ragpg.search_hybrid, which falls back on the vectors of the best keyword hits.';
    end if;
    v_scope := ragpg._open_search(p_collection, p_index_version, p_principals, p_tenant_id, p_filter, p_chunk_filter);
    return query select hit.* from ragpg._hits(
        v_scope,
        ragpg._search(v_scope, 'vector', p_query, p_embedding, v_candidate_k, 0, 1, 0, 'rrf', 0),
        p_k,
        p_expand
    ) as hit;
end;
$$;

COMMENT ON FUNCTION ragpg.search_vector(p_collection text, p_embedding public.vector, p_k integer, p_principals text[], p_tenant_id text, p_filter jsonpath, p_chunk_filter jsonpath, p_expand text, p_index_version bigint, p_query text) IS 'Vector search: the chunks nearest to p_embedding by cosine distance that the caller may see. Of p_query only the "phrases" and -exclusions count. RG001, RG004 to RG009.';

CREATE FUNCTION ragpg.set_acl(p_collection text, p_external_id text, p_acl text[], p_tenant_id text DEFAULT NULL::text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    v_tenant_id constant text := coalesce(p_tenant_id, ragpg._current_tenant_id());
    v_document_id constant uuid := ragpg._document_id(p_collection, v_tenant_id, p_external_id);
begin
    perform ragpg._index_version(p_collection);
    perform ragpg._check_acl(p_acl);
    update ragpg.document set acl = p_acl, updated_at = statement_timestamp()
    where id = v_document_id and acl is distinct from p_acl;
    if found then
        return true;
    end if;
    if not exists (select from ragpg.document where id = v_document_id) then
        raise exception using
            errcode = 'RG003',
            message = format('collection %L has no document %L in tenant %L', p_collection, p_external_id, v_tenant_id),
            hint = 'External ids are case-sensitive, and every tenant has its own.';
    end if;
    return false;
end;
$$;

COMMENT ON FUNCTION ragpg.set_acl(p_collection text, p_external_id text, p_acl text[], p_tenant_id text) IS 'Says who may read a document: one row, which holds for all its chunks in the same transaction. True where that changed anything. RG001, RG003, RG007.';

CREATE FUNCTION ragpg.upsert_document(p_collection text, p_external_id text, p_content text, p_title text DEFAULT NULL::text, p_uri text DEFAULT NULL::text, p_media_type text DEFAULT NULL::text, p_language text DEFAULT NULL::text, p_metadata jsonb DEFAULT '{}'::jsonb, p_acl text[] DEFAULT NULL::text[], p_tenant_id text DEFAULT NULL::text, p_expires_at timestamp with time zone DEFAULT NULL::timestamp with time zone, p_chunks jsonb DEFAULT NULL::jsonb, p_embeddings public.vector[] DEFAULT NULL::public.vector[], p_index_version bigint DEFAULT NULL::bigint, OUT document_id uuid, OUT status text, OUT chunks_written integer, OUT chunks_deleted integer, OUT embeddings_written integer) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
    v_tenant_id constant text := coalesce(p_tenant_id, ragpg._current_tenant_id());
    v_version record;
    v_now constant timestamptz := clock_timestamp();
    v_new ragpg.document%rowtype;
    v_old ragpg.document%rowtype;
    v_rows ragpg.chunk[];
    v_written record;
    v_indexed boolean;
begin
    -- shared with all other writes; activating another index version waits for them, and they for it
    perform pg_advisory_xact_lock_shared(ragpg._activation_lock(p_collection));
    v_version := ragpg._index_version(p_collection, p_index_version);
    if p_external_id is null or p_external_id = '' or octet_length(p_external_id) > 1000 or octet_length(v_tenant_id) > 1000 then
        raise exception using errcode = 'RG007', message = 'p_external_id must have 1 to 1000 bytes, and p_tenant_id at most 1000';
    end if;
    if p_content is null or p_content !~ '\S' then
        raise exception using
            errcode = 'RG007',
            message = format('document %L has no content', p_external_id),
            hint = 'Delete it with ragpg.delete_document if it is gone.';
    end if;
    if p_embeddings is not null and p_chunks is null then
        raise exception using
            errcode = 'RG007',
            message = format('document %L has embeddings and no chunks', p_external_id),
            hint = 'p_embeddings belong to p_chunks, one a chunk.';
    end if;
    if jsonb_typeof(p_metadata) is distinct from 'object' then
        raise exception using
            errcode = 'RG007', message = format('p_metadata of document %L is not a JSON object', p_external_id);
    end if;
    document_id := ragpg._document_id(p_collection, v_tenant_id, p_external_id);
    v_new.language := ragpg._language(coalesce(p_language, v_version.language));
    v_new.content_hash := sha256(convert_to(p_content, 'UTF8'));
    v_new.acl := coalesce(p_acl, (select default_acl from ragpg.collection where id = v_version.collection_id));
    perform ragpg._check_acl(v_new.acl);

    <<writing>>
    loop
        insert into ragpg.document (
            id, collection_id, tenant_id, external_id, title, uri, media_type, language, metadata, acl, content, content_hash,
            created_at, updated_at, expires_at
        )
        values (
            document_id, v_version.collection_id, v_tenant_id, p_external_id, p_title, p_uri, p_media_type, v_new.language, p_metadata,
            v_new.acl, p_content, v_new.content_hash, v_now, v_now, p_expires_at
        )
        on conflict (id) do nothing;
        if found then
            status := 'created';
        else
            -- the row lock makes two writers of one document follow each other
            select * into v_old from ragpg.document where id = document_id for update;
            continue writing when not found;
            v_new.acl := coalesce(p_acl, v_old.acl);
            status := case
                when v_old.content_hash <> v_new.content_hash then 'updated'
                when
                    row(v_old.title, v_old.uri, v_old.media_type, v_old.language, v_old.metadata, v_old.acl, v_old.expires_at)
                    is distinct from row(p_title, p_uri, p_media_type, v_new.language, p_metadata, v_new.acl, p_expires_at)
                    then 'attributes'
                else 'unchanged'
            end;
            if status <> 'unchanged' then
                update ragpg.document
                set
                    title = p_title, uri = p_uri, media_type = p_media_type, language = v_new.language, metadata = p_metadata,
                    acl = v_new.acl, content = p_content, content_hash = v_new.content_hash, expires_at = p_expires_at, updated_at = v_now,
                    version = v_old.version + case status when 'updated' then 1 else 0 end
                where id = document_id;
            end if;
        end if;
        exit writing;
    end loop;

    if status = 'updated' then
        -- what other index versions cut out of the former text must not be found there, nor after a roll-back
        delete from ragpg.chunk
        where chunk.document_id = upsert_document.document_id and chunk.index_version_id <> v_version.index_version_id;
    end if;
    v_rows := ragpg._chunk_rows(
        v_version.index_version_id, document_id, p_content, coalesce(p_title, ''),
        coalesce(p_chunks, case
            when status in ('created', 'updated') or not exists (
                select from ragpg.chunk
                where chunk.index_version_id = v_version.index_version_id and chunk.document_id = upsert_document.document_id
            ) then ragpg._split_text(p_content)
        end)
    );
    if v_rows is null and p_title is distinct from v_old.title then
        -- the title is the heading of what was split in here
        v_rows := array(
            select chunk from ragpg.chunk
            where chunk.index_version_id = v_version.index_version_id and chunk.document_id = upsert_document.document_id
            order by chunk.ordinal
        );
        for v_place in 1 .. cardinality(v_rows) loop
            if v_rows[v_place].heading = coalesce(v_old.title, '') then
                v_rows[v_place].heading := coalesce(p_title, '');
            end if;
        end loop;
    end if;
    v_written := ragpg._write_chunks(
        v_version.index_version_id, document_id, v_new.language, v_old.language <> v_new.language,
        v_rows, p_embeddings, v_version.dimensions
    );
    chunks_written := v_written.o_written;
    chunks_deleted := v_written.o_deleted;
    embeddings_written := v_written.o_embedded;
    if status = 'unchanged' and chunks_written + chunks_deleted + embeddings_written > 0 then
        status := 'updated';
    end if;

    -- indexed_at says that every chunk of the active version has its vector; no vector is there without its chunk, so their numbers tell
    v_indexed := v_version.dimensions is null or (
        select count(*) from ragpg.chunk
        where chunk.index_version_id = v_version.index_version_id and chunk.document_id = upsert_document.document_id
    ) = (
        select count(*) from ragpg.embedding
        where embedding.index_version_id = v_version.index_version_id and embedding.document_id = upsert_document.document_id
    );
    if v_version.is_active and (status <> 'unchanged' or v_indexed is distinct from (v_old.indexed_at is not null)) then
        update ragpg.document set indexed_at = case when v_indexed then v_now end where id = document_id;
    end if;
end;
$$;

COMMENT ON FUNCTION ragpg.upsert_document(p_collection text, p_external_id text, p_content text, p_title text, p_uri text, p_media_type text, p_language text, p_metadata jsonb, p_acl text[], p_tenant_id text, p_expires_at timestamp with time zone, p_chunks jsonb, p_embeddings public.vector[], p_index_version bigint, OUT document_id uuid, OUT status text, OUT chunks_written integer, OUT chunks_deleted integer, OUT embeddings_written integer) IS 'Writes a document with its chunks and vectors for one index version, in the caller''s transaction; when the text changes, its chunks of the other versions go. p_chunks are ranges of p_content; without them the text is split between lines and waits for its vectors. A NULL in p_embeddings keeps the vector the chunk has. The same again writes nothing. p_acl null: as it was, or the collection''s default. RG001, RG004, RG005, RG007.';

CREATE TABLE ragpg.alembic_version (
    version_num character varying(32) NOT NULL
);

COMMENT ON TABLE ragpg.alembic_version IS 'The revision this schema is at; `ragpg migrate` changes it.';

COMMENT ON COLUMN ragpg.alembic_version.version_num IS 'The revision.';

CREATE TABLE ragpg.collection (
    id bigint NOT NULL,
    name text NOT NULL,
    language text DEFAULT 'english'::text NOT NULL,
    chunking jsonb DEFAULT '{}'::jsonb NOT NULL,
    default_acl text[] DEFAULT '{public}'::text[] NOT NULL,
    bm25_k1 double precision DEFAULT 1.2 NOT NULL,
    bm25_b double precision DEFAULT 0.75 NOT NULL,
    active_index_version_id bigint,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON TABLE ragpg.collection IS 'A named set of documents that share a language, a chunking and an embedding model.';

COMMENT ON COLUMN ragpg.collection.id IS 'Surrogate key.';

COMMENT ON COLUMN ragpg.collection.name IS 'The name callers use; unique.';

COMMENT ON COLUMN ragpg.collection.language IS 'Text search configuration of documents that name none (text: pg_upgrade refuses regconfig).';

COMMENT ON COLUMN ragpg.collection.chunking IS 'Chunking strategy and parameters of new index versions.';

COMMENT ON COLUMN ragpg.collection.default_acl IS 'ACL of new documents that bring none.';

COMMENT ON COLUMN ragpg.collection.bm25_k1 IS 'BM25 term frequency saturation.';

COMMENT ON COLUMN ragpg.collection.bm25_b IS 'BM25 length normalisation, 0 to 1.';

COMMENT ON COLUMN ragpg.collection.active_index_version_id IS 'The index version that searches use; changed by activate_index_version.';

COMMENT ON COLUMN ragpg.collection.created_at IS 'When the collection was created.';

ALTER TABLE ragpg.collection ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ragpg.collection_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE ragpg.document (
    id uuid NOT NULL,
    collection_id bigint NOT NULL,
    tenant_id text DEFAULT ''::text NOT NULL,
    external_id text NOT NULL,
    title text,
    uri text,
    media_type text,
    language text NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    acl text[] NOT NULL,
    content text NOT NULL,
    content_hash bytea NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    indexed_at timestamp with time zone,
    expires_at timestamp with time zone
);

COMMENT ON TABLE ragpg.document IS 'A document: its text, who may read it, and what describes it.';

COMMENT ON COLUMN ragpg.document.id IS 'UUIDv8 of collection name, tenant_id and external_id; a client can compute it too.';

COMMENT ON COLUMN ragpg.document.collection_id IS 'The collection it belongs to.';

COMMENT ON COLUMN ragpg.document.tenant_id IS 'Hard isolation: a search sees one tenant. '''' is the default tenant.';

COMMENT ON COLUMN ragpg.document.external_id IS 'The caller''s own key of the document, unique in collection and tenant.';

COMMENT ON COLUMN ragpg.document.title IS 'Title, shown with hits.';

COMMENT ON COLUMN ragpg.document.uri IS 'Where the document can be opened.';

COMMENT ON COLUMN ragpg.document.media_type IS 'Media type of the source, e.g. text/markdown.';

COMMENT ON COLUMN ragpg.document.language IS 'Text search configuration that its chunks were analysed with.';

COMMENT ON COLUMN ragpg.document.metadata IS 'Free attributes for jsonpath filters (p_filter).';

COMMENT ON COLUMN ragpg.document.acl IS 'Principals that may read it (user:…, group:…, public) with all its chunks.';

COMMENT ON COLUMN ragpg.document.content IS 'The parsed text that all offsets point into.';

COMMENT ON COLUMN ragpg.document.content_hash IS 'SHA-256 of the UTF-8 content.';

COMMENT ON COLUMN ragpg.document.version IS 'Counts changes of the content, from 1.';

COMMENT ON COLUMN ragpg.document.created_at IS 'When it was first written.';

COMMENT ON COLUMN ragpg.document.updated_at IS 'When content or attributes last changed.';

COMMENT ON COLUMN ragpg.document.indexed_at IS 'When all its chunks had what the search needs; null while vectors are pending.';

COMMENT ON COLUMN ragpg.document.expires_at IS 'From then on no search returns it.';

CREATE TABLE ragpg.embedding (
    index_version_id bigint NOT NULL,
    document_id uuid NOT NULL,
    chunk_id uuid NOT NULL,
    embedding public.halfvec NOT NULL
)
PARTITION BY LIST (index_version_id);

COMMENT ON TABLE ragpg.embedding IS 'The vector of a chunk; one partition, and one HNSW index, per index version.';

COMMENT ON COLUMN ragpg.embedding.index_version_id IS 'The chunk''s index version; partition key.';

COMMENT ON COLUMN ragpg.embedding.document_id IS 'The chunk''s document.';

COMMENT ON COLUMN ragpg.embedding.chunk_id IS 'The chunk.';

COMMENT ON COLUMN ragpg.embedding.embedding IS 'The vector, in half precision, of the index version''s dimensions.';

CREATE TABLE ragpg.embedding_cache (
    model_key text NOT NULL,
    input_hash bytea NOT NULL,
    embedding public.halfvec NOT NULL,
    last_used_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON TABLE ragpg.embedding_cache IS 'Vectors by model and exact input, so that no text is embedded twice.';

COMMENT ON COLUMN ragpg.embedding_cache.model_key IS 'provider:model:dimensions.';

COMMENT ON COLUMN ragpg.embedding_cache.input_hash IS 'SHA-256 of the UTF-8 input, prefix included.';

COMMENT ON COLUMN ragpg.embedding_cache.embedding IS 'The vector, in half precision.';

COMMENT ON COLUMN ragpg.embedding_cache.last_used_at IS 'When it was last stored.';

CREATE TABLE ragpg.index_version (
    id bigint NOT NULL,
    collection_id bigint NOT NULL,
    chunking jsonb NOT NULL,
    embedding_provider text,
    embedding_model text,
    dimensions integer,
    query_prefix text DEFAULT ''::text NOT NULL,
    document_prefix text DEFAULT ''::text NOT NULL,
    status text DEFAULT 'building'::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    activated_at timestamp with time zone,
    chunk_count bigint,
    average_length double precision,
    document_count bigint,
    document_bytes bigint,
    statistics_k1 double precision,
    statistics_b double precision,
    statistics_at timestamp with time zone,
    statistics_horizon timestamp with time zone,
    CONSTRAINT ck_index_version_status CHECK ((status = ANY (ARRAY['building'::text, 'active'::text, 'retired'::text])))
);

COMMENT ON TABLE ragpg.index_version IS 'One way to chunk and embed a collection; several live side by side.';

COMMENT ON COLUMN ragpg.index_version.id IS 'Surrogate key; names the partitions chunk_v<id>.';

COMMENT ON COLUMN ragpg.index_version.collection_id IS 'The collection it indexes.';

COMMENT ON COLUMN ragpg.index_version.chunking IS 'Chunking strategy and parameters of this version.';

COMMENT ON COLUMN ragpg.index_version.embedding_provider IS 'Embedding provider; null: keyword search only.';

COMMENT ON COLUMN ragpg.index_version.embedding_model IS 'Embedding model; null: keyword search only.';

COMMENT ON COLUMN ragpg.index_version.dimensions IS 'Length of the vectors; null: keyword search only.';

COMMENT ON COLUMN ragpg.index_version.query_prefix IS 'Put before a query when it is embedded.';

COMMENT ON COLUMN ragpg.index_version.document_prefix IS 'Put before a chunk when it is embedded.';

COMMENT ON COLUMN ragpg.index_version.status IS 'building, active or retired.';

COMMENT ON COLUMN ragpg.index_version.created_at IS 'When the version was created.';

COMMENT ON COLUMN ragpg.index_version.activated_at IS 'When it was last made the active one.';

COMMENT ON COLUMN ragpg.index_version.chunk_count IS 'Statistics: number of chunks at the last refresh.';

COMMENT ON COLUMN ragpg.index_version.average_length IS 'Statistics: average number of lexemes of a chunk at the last refresh.';

COMMENT ON COLUMN ragpg.index_version.document_count IS 'Statistics: number of documents with chunks at the last refresh.';

COMMENT ON COLUMN ragpg.index_version.document_bytes IS 'Statistics: length of their text at the last refresh, in bytes of UTF-8.';

COMMENT ON COLUMN ragpg.index_version.statistics_k1 IS 'Statistics: the k1 that max_impact was computed with.';

COMMENT ON COLUMN ragpg.index_version.statistics_b IS 'Statistics: the b that max_impact was computed with.';

COMMENT ON COLUMN ragpg.index_version.statistics_at IS 'Statistics: when they were last refreshed.';

COMMENT ON COLUMN ragpg.index_version.statistics_horizon IS 'Statistics: chunks written from then on may be missing from them.';

ALTER TABLE ragpg.index_version ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ragpg.index_version_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE ragpg.job (
    id bigint NOT NULL,
    kind text NOT NULL,
    key text NOT NULL,
    payload jsonb DEFAULT '{}'::jsonb NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    run_after timestamp with time zone DEFAULT now() NOT NULL,
    lease_until timestamp with time zone,
    last_error text,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON TABLE ragpg.job IS 'Work to do later, taken by a worker under a lease.';

COMMENT ON COLUMN ragpg.job.id IS 'Surrogate key.';

COMMENT ON COLUMN ragpg.job.kind IS 'What to do.';

COMMENT ON COLUMN ragpg.job.key IS 'What to do it to.';

COMMENT ON COLUMN ragpg.job.payload IS 'Parameters of the work.';

COMMENT ON COLUMN ragpg.job.attempts IS 'How often it was started.';

COMMENT ON COLUMN ragpg.job.run_after IS 'Not to be started before.';

COMMENT ON COLUMN ragpg.job.lease_until IS 'A worker has it until then.';

COMMENT ON COLUMN ragpg.job.last_error IS 'Why the last attempt failed.';

COMMENT ON COLUMN ragpg.job.created_at IS 'When it was queued.';

ALTER TABLE ragpg.job ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ragpg.job_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE ragpg.lexeme_stat (
    index_version_id bigint NOT NULL,
    lexeme text NOT NULL,
    document_frequency bigint NOT NULL,
    max_impact double precision NOT NULL
);

COMMENT ON TABLE ragpg.lexeme_stat IS 'What BM25 needs to know of a lexeme, refreshed like ANALYZE.';

COMMENT ON COLUMN ragpg.lexeme_stat.index_version_id IS 'The index version counted.';

COMMENT ON COLUMN ragpg.lexeme_stat.lexeme IS 'The lexeme as it stands in content_tsv.';

COMMENT ON COLUMN ragpg.lexeme_stat.document_frequency IS 'Number of chunks that hold it.';

COMMENT ON COLUMN ragpg.lexeme_stat.max_impact IS 'Largest BM25 term weight (without idf) in any chunk: an upper bound.';

CREATE TABLE ragpg.search_log (
    id bigint NOT NULL,
    collection_id bigint NOT NULL,
    index_version_id bigint,
    query text NOT NULL,
    principals_hash bytea,
    hits jsonb NOT NULL,
    latencies jsonb DEFAULT '{}'::jsonb NOT NULL,
    degraded text[] DEFAULT '{}'::text[] NOT NULL,
    feedback jsonb,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON TABLE ragpg.search_log IS 'Searches, where logging was switched on.';

COMMENT ON COLUMN ragpg.search_log.id IS 'Surrogate key.';

COMMENT ON COLUMN ragpg.search_log.collection_id IS 'The collection searched.';

COMMENT ON COLUMN ragpg.search_log.index_version_id IS 'The index version searched; no foreign key, so that the log outlives a dropped version.';

COMMENT ON COLUMN ragpg.search_log.query IS 'The query''s text.';

COMMENT ON COLUMN ragpg.search_log.principals_hash IS 'Hash of the caller''s principals.';

COMMENT ON COLUMN ragpg.search_log.hits IS 'What was returned, with the ranks of both legs.';

COMMENT ON COLUMN ragpg.search_log.latencies IS 'Milliseconds by part.';

COMMENT ON COLUMN ragpg.search_log.degraded IS 'What was given up, and why.';

COMMENT ON COLUMN ragpg.search_log.feedback IS 'What the user said about the answer.';

COMMENT ON COLUMN ragpg.search_log.created_at IS 'When the search ran.';

ALTER TABLE ragpg.search_log ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ragpg.search_log_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE ragpg.source_table (
    id bigint NOT NULL,
    collection_id bigint NOT NULL,
    relation text NOT NULL,
    key_columns text[] NOT NULL,
    expressions jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON TABLE ragpg.source_table IS 'An application''s own table that is kept searchable.';

COMMENT ON COLUMN ragpg.source_table.id IS 'Surrogate key.';

COMMENT ON COLUMN ragpg.source_table.collection_id IS 'The collection its rows become documents of.';

COMMENT ON COLUMN ragpg.source_table.relation IS 'Qualified, quoted name of the table.';

COMMENT ON COLUMN ragpg.source_table.key_columns IS 'Columns that make external_id.';

COMMENT ON COLUMN ragpg.source_table.expressions IS 'SQL expressions for content, title, acl and so on.';

COMMENT ON COLUMN ragpg.source_table.created_at IS 'When it was attached.';

ALTER TABLE ragpg.source_table ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME ragpg.source_table_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY ragpg.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);

ALTER TABLE ONLY ragpg.chunk
    ADD CONSTRAINT pk_chunk PRIMARY KEY (index_version_id, document_id, id);

ALTER TABLE ONLY ragpg.collection
    ADD CONSTRAINT pk_collection PRIMARY KEY (id);

ALTER TABLE ONLY ragpg.document
    ADD CONSTRAINT pk_document PRIMARY KEY (id);

ALTER TABLE ONLY ragpg.embedding
    ADD CONSTRAINT pk_embedding PRIMARY KEY (index_version_id, document_id, chunk_id);

ALTER TABLE ONLY ragpg.embedding_cache
    ADD CONSTRAINT pk_embedding_cache PRIMARY KEY (model_key, input_hash);

ALTER TABLE ONLY ragpg.index_version
    ADD CONSTRAINT pk_index_version PRIMARY KEY (id);

ALTER TABLE ONLY ragpg.job
    ADD CONSTRAINT pk_job PRIMARY KEY (id);

ALTER TABLE ONLY ragpg.lexeme_stat
    ADD CONSTRAINT pk_lexeme_stat PRIMARY KEY (index_version_id, lexeme);

ALTER TABLE ONLY ragpg.role_principal
    ADD CONSTRAINT pk_role_principal PRIMARY KEY (role);

ALTER TABLE ONLY ragpg.search_log
    ADD CONSTRAINT pk_search_log PRIMARY KEY (id);

ALTER TABLE ONLY ragpg.source_table
    ADD CONSTRAINT pk_source_table PRIMARY KEY (id);

ALTER TABLE ONLY ragpg.collection
    ADD CONSTRAINT uq_collection_name UNIQUE (name);

CREATE INDEX ix_chunk_document_id ON ONLY ragpg.chunk USING btree (document_id);

CREATE INDEX ix_document_acl ON ragpg.document USING gin (acl);

CREATE INDEX ix_document_collection_id ON ragpg.document USING btree (collection_id, tenant_id, external_id);

CREATE INDEX ix_document_language ON ragpg.document USING btree (collection_id, language);

CREATE INDEX ix_document_metadata ON ragpg.document USING gin (metadata jsonb_path_ops);

CREATE INDEX ix_document_unindexed ON ragpg.document USING btree (collection_id) WHERE (indexed_at IS NULL);

CREATE INDEX ix_index_version_collection_id ON ragpg.index_version USING btree (collection_id);

CREATE INDEX ix_search_log_collection_id ON ragpg.search_log USING btree (collection_id);

CREATE INDEX ix_source_table_collection_id ON ragpg.source_table USING btree (collection_id);

ALTER TABLE ragpg.chunk
    ADD CONSTRAINT fk_chunk_document FOREIGN KEY (document_id) REFERENCES ragpg.document(id) ON DELETE CASCADE;

ALTER TABLE ragpg.chunk
    ADD CONSTRAINT fk_chunk_index_version FOREIGN KEY (index_version_id) REFERENCES ragpg.index_version(id);

ALTER TABLE ONLY ragpg.document
    ADD CONSTRAINT fk_document_collection FOREIGN KEY (collection_id) REFERENCES ragpg.collection(id) ON DELETE CASCADE;

ALTER TABLE ragpg.embedding
    ADD CONSTRAINT fk_embedding_chunk FOREIGN KEY (index_version_id, document_id, chunk_id) REFERENCES ragpg.chunk(index_version_id, document_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY ragpg.index_version
    ADD CONSTRAINT fk_index_version_collection FOREIGN KEY (collection_id) REFERENCES ragpg.collection(id) ON DELETE CASCADE;

ALTER TABLE ONLY ragpg.lexeme_stat
    ADD CONSTRAINT fk_lexeme_stat_index_version FOREIGN KEY (index_version_id) REFERENCES ragpg.index_version(id) ON DELETE CASCADE;

ALTER TABLE ONLY ragpg.search_log
    ADD CONSTRAINT fk_search_log_collection FOREIGN KEY (collection_id) REFERENCES ragpg.collection(id) ON DELETE CASCADE;

ALTER TABLE ONLY ragpg.source_table
    ADD CONSTRAINT fk_source_table_collection FOREIGN KEY (collection_id) REFERENCES ragpg.collection(id) ON DELETE CASCADE;

ALTER TABLE ragpg.alembic_version ENABLE ROW LEVEL SECURITY;

ALTER TABLE ragpg.chunk ENABLE ROW LEVEL SECURITY;

ALTER TABLE ragpg.collection ENABLE ROW LEVEL SECURITY;

ALTER TABLE ragpg.document ENABLE ROW LEVEL SECURITY;

ALTER TABLE ragpg.embedding ENABLE ROW LEVEL SECURITY;

ALTER TABLE ragpg.embedding_cache ENABLE ROW LEVEL SECURITY;

ALTER TABLE ragpg.index_version ENABLE ROW LEVEL SECURITY;

ALTER TABLE ragpg.job ENABLE ROW LEVEL SECURITY;

ALTER TABLE ragpg.lexeme_stat ENABLE ROW LEVEL SECURITY;

CREATE POLICY reader ON ragpg.chunk FOR SELECT USING ((EXISTS ( SELECT
   FROM ragpg.document
  WHERE (document.id = chunk.document_id))));

COMMENT ON POLICY reader ON ragpg.chunk IS 'The chunks of the documents that may be read.';

CREATE POLICY reader ON ragpg.collection FOR SELECT USING (true);

COMMENT ON POLICY reader ON ragpg.collection IS 'Collections are no secret to those who may use the schema.';

CREATE POLICY reader ON ragpg.document FOR SELECT USING (((tenant_id = ( SELECT ragpg._current_tenant_id() AS _current_tenant_id)) AND (acl && ( SELECT ragpg._current_principals() AS _current_principals)) AND ((expires_at IS NULL) OR (expires_at > now()))));

COMMENT ON POLICY reader ON ragpg.document IS 'The documents of the session''s tenant that its principals may read and that have not expired.';

CREATE POLICY reader ON ragpg.embedding FOR SELECT USING ((EXISTS ( SELECT
   FROM ragpg.document
  WHERE (document.id = embedding.document_id))));

COMMENT ON POLICY reader ON ragpg.embedding IS 'The embeddings of the documents that may be read.';

CREATE POLICY reader ON ragpg.index_version FOR SELECT USING (true);

COMMENT ON POLICY reader ON ragpg.index_version IS 'Index versions are no secret to those who may use the schema.';

ALTER TABLE ragpg.role_principal ENABLE ROW LEVEL SECURITY;

ALTER TABLE ragpg.search_log ENABLE ROW LEVEL SECURITY;

ALTER TABLE ragpg.source_table ENABLE ROW LEVEL SECURITY;

REVOKE ALL ON FUNCTION ragpg._accented() FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._activation_lock(p_collection text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._analyze(p_config regconfig, p_text text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._announce_write(p_index_version bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._quoted(p_lexeme text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._any_of(p_lexemes text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._are_principals(p_names text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._best_matches(p_scope ragpg._scope, p_terms ragpg._terms, p_candidates tsquery, p_fresh boolean, p_limit integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._bind_role(p_role text, p_principals text[], p_tenant_id text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._bindings() FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._cache_embeddings(p_model_key text, p_input_hashes bytea[], p_embeddings public.vector[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._cached_embeddings(p_model_key text, p_input_hashes bytea[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._cached_query(p_scope ragpg._scope, p_query text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._caller() FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._caller_is_owner() FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._causes_of_absence(p_scope ragpg._scope, p_query text, p_document_id uuid) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._centroid(p_scope ragpg._scope, p_document_ids uuid[], p_chunk_ids uuid[], p_weights double precision[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._spaceless() FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._letters(p_text text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._characters(p_text text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._check_acl(p_acl text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._check_dimensions(p_embeddings public.vector[], p_dimensions integer, p_index_version bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._check_embedding(p_scope ragpg._scope, p_embedding public.vector) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._check_mode(p_mode text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._check_paging(p_k integer, p_candidate_k integer, p_rrf_k integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._check_weights(p_vector_weight double precision, p_keyword_weight double precision) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._uuid8(p_digest bytea) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._chunk_id(p_document_id uuid, p_content text, p_occurrence integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._chunk_join(p_scope ragpg._scope) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._chunk_rows(p_index_version bigint, p_document_id uuid, p_content text, p_title text, p_chunks jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._chunk_states(p_collection text, p_document_id uuid, p_index_version bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._config_name(p_name name, p_schema name) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._configs(p_scope ragpg._scope) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._corpus_counts(p_scope ragpg._scope) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._cosine_distance(p_left public.halfvec, p_right public.halfvec) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._count_visible(p_scope ragpg._scope, p_cap integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._current_principals() FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._current_tenant_id() FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._cut(p_content text, p_chunks jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._dimensions(p_embedding public.vector) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._distances(p_scope ragpg._scope, p_embedding public.halfvec, p_document_ids uuid[], p_chunk_ids uuid[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._document_card(p_scope ragpg._scope, p_document_id uuid) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._document_frequency(p_scope ragpg._scope, p_lexeme tsquery) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._document_id(p_collection text, p_tenant_id text, p_external_id text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._document_states(p_collection text, p_external_ids text[], p_tenant_id text, p_index_version bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._drop_partitions(p_index_version bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._estimated_chunks(p_index_version bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._excluded() FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._existing_configs(p_languages text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._expansion(p_expand text, OUT o_mode text, OUT o_neighbors integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._external_ids(p_collection text, p_prefix_uri text, p_tenant_id text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._filters_failed(p_scope ragpg._scope, p_query text, p_document_id uuid) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._fold(p_text text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._fuse(p_scope ragpg._scope, p_terms ragpg._terms, p_embedding public.halfvec, p_keyword ragpg._leg, p_vector ragpg._leg, p_fusion text, p_rrf_k integer, p_vector_weight double precision, p_keyword_weight double precision) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._hits(p_scope ragpg._scope, p_ranking ragpg._ranking, p_k integer, p_expand text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._pictographs() FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._identifiers(p_text text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._index_version(p_collection text, p_index_version bigint, OUT collection_id bigint, OUT index_version_id bigint, OUT language text, OUT chunking jsonb, OUT embedding_provider text, OUT embedding_model text, OUT dimensions integer, OUT query_prefix text, OUT document_prefix text, OUT is_active boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._may_set_principals() FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._is_bound() FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._is_chunk(p_chunk jsonb, p_length integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._is_same(p_left public.halfvec, p_right public.halfvec) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._is_zero(p_embedding public.halfvec) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._keyword_leg(p_scope ragpg._scope, p_terms ragpg._terms, p_limit integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._keyword_scores(p_scope ragpg._scope, p_terms ragpg._terms, p_document_ids uuid[], p_chunk_ids uuid[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._keyword_standing(p_ranking ragpg._ranking, p_query text, p_document_id uuid, p_chunk_ids uuid[], p_limit integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._language(p_language text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._lexeme_count(p_tsv tsvector) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._load_pgvector() FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._lock_for_dropping(p_patience interval) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._lock_patience() FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._may_choose_principals() FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._measure_visibility(p_scope ragpg._scope, p_narrow_limit integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._milliseconds(p_from timestamp with time zone, p_to timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._narrow_limit(p_scope ragpg._scope) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._nearest_exact(p_scope ragpg._scope, p_embedding public.halfvec, p_limit integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._nearest_hnsw(p_scope ragpg._scope, p_embedding public.halfvec, p_limit integer, p_passed integer, p_ef_search integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._no_such_document(p_scope ragpg._scope, p_external_id text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._normalise(p_text text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._occurring(p_scope ragpg._scope, p_lexemes text[], p_counts integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._open_search(p_collection text, p_index_version bigint, p_principals text[], p_tenant_id text, p_filter jsonpath, p_chunk_filter jsonpath, p_idf text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._parse_query(p_configs text[], p_query text, OUT o_has_words boolean, OUT o_lexemes text[], OUT o_counts integer[], OUT o_phrases tsquery, OUT o_exclusions tsquery, OUT o_stop_lexemes text[], OUT o_stop_counts integer[], OUT o_stop_phrase tsquery) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._passing_chunks(p_scope ragpg._scope, p_document_id uuid) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._pending_chunks(p_collection text, p_limit integer, p_index_version bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._phrase(p_config regconfig, p_text text, OUT o_query tsquery, OUT o_is_stop_words boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._phrase_in(p_configs text[], p_text text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._plain_hits(p_scope ragpg._scope, p_ranking ragpg._ranking, p_k integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._plain_words(p_text text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._positioned_lexemes(p_lexemes text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._predicate(p_path jsonpath, p_name text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._principals(p_principals text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._query_words(p_scope ragpg._scope, p_terms ragpg._terms, p_query text, p_document_id uuid, p_chunk_ids uuid[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._role(p_role text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._score_expression(p_terms integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._search(p_scope ragpg._scope, p_mode text, p_query text, p_embedding public.vector, p_candidate_k integer, p_rrf_k integer, p_vector_weight double precision, p_keyword_weight double precision, p_fusion text, p_feedback integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._sees_language(p_scope ragpg._scope, p_languages text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._set_embeddings(p_collection text, p_document_ids uuid[], p_chunk_ids uuid[], p_embeddings public.vector[], p_index_version bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._sets_reaching(p_queries tsquery[], p_bounds double precision[], p_threshold double precision) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._setting_principals() FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._single_leg(p_leg ragpg._leg, p_mode text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._split_text(p_content text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._standing(p_leg ragpg._leg, p_document_id uuid, p_chunk_ids uuid[], p_scores double precision[], p_ascending boolean, p_limit integer, OUT o_rank bigint, OUT o_score double precision, OUT o_chunk_id uuid, OUT o_compared integer, OUT o_last_rank integer, OUT o_last_score double precision) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._standing_in_legs(p_ranking ragpg._ranking, p_mode text, p_query text, p_document_id uuid, p_limit integer, p_is_visible boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._terms_of(p_scope ragpg._scope, p_lexemes text[], p_counts integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._to_halfvec(p_embedding public.vector) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._to_vector(p_embedding public.halfvec) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._vector_leg(p_scope ragpg._scope, p_embedding public.halfvec, p_limit integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._vector_schema() FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._vector_standing(p_ranking ragpg._ranking, p_document_id uuid, p_chunk_ids uuid[], p_limit integer, p_is_visible boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._visible_counts(p_scope ragpg._scope) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._visible_documents(p_scope ragpg._scope, p_limit integer, OUT o_ids uuid[], OUT o_bytes bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._weighted_sum(p_embeddings public.halfvec[], p_weights double precision[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._word_parts(p_text text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._words(p_config regconfig, p_text text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._write_chunks(p_index_version bigint, p_document_id uuid, p_language text, p_language_changed boolean, p_rows ragpg.chunk[], p_embeddings public.vector[], p_dimensions integer, OUT o_written integer, OUT o_deleted integer, OUT o_embedded integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._write_horizon(p_index_version bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg._write_lock_class(p_index_version bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg.activate_index_version(p_collection text, p_index_version bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg.collection_stats(p_collection text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg.create_collection(p_name text, p_language text, p_chunking jsonb, p_default_acl text[], p_embedding_provider text, p_embedding_model text, p_embedding_dimensions integer, p_query_prefix text, p_document_prefix text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg.create_index_version(p_collection text, p_chunking jsonb, p_embedding_provider text, p_embedding_model text, p_embedding_dimensions integer, p_query_prefix text, p_document_prefix text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg.delete_document(p_collection text, p_external_id text, p_tenant_id text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg.drop_collection(p_name text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg.drop_index_version(p_collection text, p_index_version bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg.explain_search(p_collection text, p_query text, p_embedding public.vector, p_k integer, p_principals text[], p_tenant_id text, p_filter jsonpath, p_chunk_filter jsonpath, p_candidate_k integer, p_rrf_k integer, p_vector_weight double precision, p_keyword_weight double precision, p_fusion text, p_feedback integer, p_index_version bigint, p_mode text, p_idf text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg.find_document(p_collection text, p_external_id text, p_query text, p_embedding public.vector, p_k integer, p_principals text[], p_tenant_id text, p_filter jsonpath, p_chunk_filter jsonpath, p_candidate_k integer, p_rrf_k integer, p_vector_weight double precision, p_keyword_weight double precision, p_fusion text, p_feedback integer, p_expand text, p_index_version bigint, p_mode text, p_idf text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg.grant_access(p_role text, p_level text, p_principals text[], p_tenant_id text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg.refresh_statistics(p_collection text, p_index_version bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg.revoke_access(p_role text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg.search_hybrid(p_collection text, p_query text, p_embedding public.vector, p_k integer, p_principals text[], p_tenant_id text, p_filter jsonpath, p_chunk_filter jsonpath, p_candidate_k integer, p_rrf_k integer, p_vector_weight double precision, p_keyword_weight double precision, p_fusion text, p_feedback integer, p_expand text, p_index_version bigint, p_idf text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg.search_keyword(p_collection text, p_query text, p_k integer, p_principals text[], p_tenant_id text, p_filter jsonpath, p_chunk_filter jsonpath, p_expand text, p_index_version bigint, p_idf text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg.search_vector(p_collection text, p_embedding public.vector, p_k integer, p_principals text[], p_tenant_id text, p_filter jsonpath, p_chunk_filter jsonpath, p_expand text, p_index_version bigint, p_query text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg.set_acl(p_collection text, p_external_id text, p_acl text[], p_tenant_id text) FROM PUBLIC;

REVOKE ALL ON FUNCTION ragpg.upsert_document(p_collection text, p_external_id text, p_content text, p_title text, p_uri text, p_media_type text, p_language text, p_metadata jsonb, p_acl text[], p_tenant_id text, p_expires_at timestamp with time zone, p_chunks jsonb, p_embeddings public.vector[], p_index_version bigint, OUT document_id uuid, OUT status text, OUT chunks_written integer, OUT chunks_deleted integer, OUT embeddings_written integer) FROM PUBLIC;
