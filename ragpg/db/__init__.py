"""Everything that talks to Postgres: calls, models, migrations, the embedded server."""
