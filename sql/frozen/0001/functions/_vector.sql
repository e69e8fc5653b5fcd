-- pgvector's operators and casts, bound once. A `begin atomic` body holds object ids, not names: these work wherever pgvector's
-- schema is, need no search_path, and are inlined, so that `order by ragpg._cosine_distance(…)` still uses an HNSW index.

create function ragpg._dimensions(p_embedding vector) returns integer
language sql immutable parallel safe
begin atomic
    select vector_dims(p_embedding);
end;

comment on function ragpg._dimensions(vector) is 'The number of dimensions of a vector.';

create function ragpg._to_halfvec(p_embedding vector) returns halfvec
language sql immutable parallel safe
begin atomic
    select p_embedding::halfvec;
end;

comment on function ragpg._to_halfvec(vector) is 'The vector in half precision, as it is stored.';

create function ragpg._to_vector(p_embedding halfvec) returns vector
language sql immutable parallel safe
begin atomic
    select p_embedding::vector;
end;

comment on function ragpg._to_vector(halfvec) is 'The stored half-precision vector in single precision.';

create function ragpg._cosine_distance(p_left halfvec, p_right halfvec) returns double precision
language sql immutable parallel safe
begin atomic
    select p_left <=> p_right;
end;

comment on function ragpg._cosine_distance(halfvec, halfvec) is '1 − cosine similarity; 0 is the same direction, lower is better.';

create function ragpg._is_same(p_left halfvec, p_right halfvec) returns boolean
language sql immutable parallel safe
begin atomic
    select p_left = p_right;
end;

comment on function ragpg._is_same(halfvec, halfvec) is 'True where both vectors are equal in every dimension.';

create function ragpg._is_zero(p_embedding halfvec) returns boolean
language sql immutable parallel safe
begin atomic
    select l2_norm(p_embedding) = 0;
end;

comment on function ragpg._is_zero(halfvec) is 'True for a vector of zeros, which has no direction and so no cosine.';

create function ragpg._weighted_sum(p_embeddings halfvec[], p_weights double precision[]) returns halfvec
language sql immutable parallel safe
begin atomic
    -- scaled to what half precision holds best: small weights would leave nothing but zeros
    select (array_agg(axis.value / axis.largest order by axis.place))::real[]::halfvec
    from (
        select
            component.place,
            -- every vector counts by its direction: its length is taken out first
            sum(item.weight * component.value / greatest(l2_norm(item.embedding), 1e-12)) as value,
            max(abs(sum(item.weight * component.value / greatest(l2_norm(item.embedding), 1e-12)))) over () as largest
        from unnest(p_embeddings, p_weights) as item (embedding, weight)
        cross join lateral unnest(item.embedding::real[]) with ordinality as component (value, place)
        group by component.place
    ) as axis
    where axis.largest > 0;
end;

comment on function ragpg._weighted_sum(halfvec[], double precision[]) is
'The direction of the sum of the vectors'' directions, each times its weight. Null for no vector, and where they cancel out.';
