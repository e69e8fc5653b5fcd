-- Nobody but the owner may do anything until ragpg.grant_access says so.

revoke all on schema ragpg from public;
revoke all on all tables in schema ragpg from public;
revoke all on all functions in schema ragpg from public;
