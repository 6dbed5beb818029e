-- The roles and the database, created once.
CREATE ROLE bookplate_owner LOGIN PASSWORD '{owner_password}';
CREATE ROLE bookplate_app LOGIN PASSWORD '{app_password}';
CREATE DATABASE bookplate OWNER bookplate_owner;
