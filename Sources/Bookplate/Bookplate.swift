// Bookplate
