-- Row-level security: a role that reads the tables directly sees what the search would show it. Enabled, not forced: the search
-- functions run as the owner and carry the same rule themselves, where an index can serve it. A table without a policy here is
-- the owner's alone. The sub-selects are evaluated once a statement, not once a row.

create policy reader on ragpg.collection for select using (true);
comment on policy reader on ragpg.collection is 'Collections are no secret to those who may use the schema.';

create policy reader on ragpg.index_version for select using (true);
comment on policy reader on ragpg.index_version is 'Index versions are no secret to those who may use the schema.';

create policy reader on ragpg.document for select using (
    tenant_id = (select ragpg._current_tenant_id())
    and acl && (select ragpg._current_principals())
    and (expires_at is null or expires_at > now())
);
comment on policy reader on ragpg.document is 'The documents of the session''s tenant that its principals may read and that have not expired.';

create policy reader on ragpg.chunk for select using (
    exists (select from ragpg.document where document.id = chunk.document_id)
);
comment on policy reader on ragpg.chunk is 'The chunks of the documents that may be read.';

create policy reader on ragpg.embedding for select using (
    exists (select from ragpg.document where document.id = embedding.document_id)
);
comment on policy reader on ragpg.embedding is 'The embeddings of the documents that may be read.';
