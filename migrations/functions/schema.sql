-- The states of the schema, which the migrator records. A server is ready if the database has had the state that it needs.

GRANT SELECT ON schema_states TO bookplate_app;
