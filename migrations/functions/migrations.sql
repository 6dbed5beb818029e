-- The grants of the schema, and of the tables in which the migrator records its states, which MigrationTables.swift creates. A
-- server is ready if the database has had the state that it needs.

GRANT USAGE ON SCHEMA public TO bookplate_app;
GRANT SELECT ON schema_migrations, schema_states TO bookplate_app;
