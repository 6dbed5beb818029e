-- Trusted documents. The admin CLI writes them.

GRANT SELECT ON documents TO bookplate_app;
