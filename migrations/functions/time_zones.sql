-- The time zones of readers. PostgreSQL can use another version of the time zone database than the one that knew the name.

-- Returns the current name of a zone, such as Asia/Kolkata for Asia/Calcutta. The old names are the links of tzdata 2025 that name no
-- zone of a country. Newer versions of the database may lack them.
CREATE OR REPLACE FUNCTION current_zone_name(name text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT coalesce(
        $json${
      "Africa/Asmera": "Africa/Nairobi", "Africa/Timbuktu": "Africa/Abidjan",
      "America/Argentina/ComodRivadavia": "America/Argentina/Catamarca", "America/Atka": "America/Adak",
      "America/Buenos_Aires": "America/Argentina/Buenos_Aires", "America/Catamarca": "America/Argentina/Catamarca",
      "America/Coral_Harbour": "America/Panama", "America/Cordoba": "America/Argentina/Cordoba",
      "America/Ensenada": "America/Tijuana", "America/Fort_Wayne": "America/Indiana/Indianapolis",
      "America/Godthab": "America/Nuuk", "America/Indianapolis": "America/Indiana/Indianapolis",
      "America/Jujuy": "America/Argentina/Jujuy", "America/Knox_IN": "America/Indiana/Knox",
      "America/Louisville": "America/Kentucky/Louisville", "America/Mendoza": "America/Argentina/Mendoza",
      "America/Montreal": "America/Toronto", "America/Nipigon": "America/Toronto", "America/Pangnirtung": "America/Iqaluit",
      "America/Porto_Acre": "America/Rio_Branco", "America/Rainy_River": "America/Winnipeg",
      "America/Rosario": "America/Argentina/Cordoba", "America/Santa_Isabel": "America/Tijuana",
      "America/Shiprock": "America/Denver", "America/Thunder_Bay": "America/Toronto", "America/Virgin": "America/Puerto_Rico",
      "America/Yellowknife": "America/Edmonton", "Antarctica/South_Pole": "Pacific/Auckland", "Asia/Ashkhabad": "Asia/Ashgabat",
      "Asia/Calcutta": "Asia/Kolkata", "Asia/Choibalsan": "Asia/Ulaanbaatar", "Asia/Chongqing": "Asia/Shanghai",
      "Asia/Chungking": "Asia/Shanghai", "Asia/Dacca": "Asia/Dhaka", "Asia/Harbin": "Asia/Shanghai",
      "Asia/Istanbul": "Europe/Istanbul", "Asia/Kashgar": "Asia/Urumqi", "Asia/Katmandu": "Asia/Kathmandu",
      "Asia/Macao": "Asia/Macau", "Asia/Rangoon": "Asia/Yangon", "Asia/Saigon": "Asia/Ho_Chi_Minh",
      "Asia/Tel_Aviv": "Asia/Jerusalem", "Asia/Thimbu": "Asia/Thimphu", "Asia/Ujung_Pandang": "Asia/Makassar",
      "Asia/Ulan_Bator": "Asia/Ulaanbaatar", "Atlantic/Faeroe": "Atlantic/Faroe", "Atlantic/Jan_Mayen": "Europe/Berlin",
      "Australia/ACT": "Australia/Sydney", "Australia/Canberra": "Australia/Sydney", "Australia/Currie": "Australia/Hobart",
      "Australia/LHI": "Australia/Lord_Howe", "Australia/NSW": "Australia/Sydney", "Australia/North": "Australia/Darwin",
      "Australia/Queensland": "Australia/Brisbane", "Australia/South": "Australia/Adelaide",
      "Australia/Tasmania": "Australia/Hobart", "Australia/Victoria": "Australia/Melbourne", "Australia/West": "Australia/Perth",
      "Australia/Yancowinna": "Australia/Broken_Hill", "Brazil/Acre": "America/Rio_Branco",
      "Brazil/DeNoronha": "America/Noronha", "Brazil/East": "America/Sao_Paulo", "Brazil/West": "America/Manaus",
      "Canada/Atlantic": "America/Halifax", "Canada/Central": "America/Winnipeg", "Canada/Eastern": "America/Toronto",
      "Canada/Mountain": "America/Edmonton", "Canada/Newfoundland": "America/St_Johns", "Canada/Pacific": "America/Vancouver",
      "Canada/Saskatchewan": "America/Regina", "Canada/Yukon": "America/Whitehorse", "Chile/Continental": "America/Santiago",
      "Chile/EasterIsland": "Pacific/Easter", "Cuba": "America/Havana", "Egypt": "Africa/Cairo", "Eire": "Europe/Dublin",
      "Europe/Belfast": "Europe/London", "Europe/Kiev": "Europe/Kyiv", "Europe/Nicosia": "Asia/Nicosia",
      "Europe/Tiraspol": "Europe/Chisinau", "Europe/Uzhgorod": "Europe/Kyiv", "Europe/Zaporozhye": "Europe/Kyiv",
      "GB": "Europe/London", "GB-Eire": "Europe/London", "Hongkong": "Asia/Hong_Kong", "Iceland": "Africa/Abidjan",
      "Iran": "Asia/Tehran", "Israel": "Asia/Jerusalem", "Jamaica": "America/Jamaica", "Japan": "Asia/Tokyo",
      "Kwajalein": "Pacific/Kwajalein", "Libya": "Africa/Tripoli", "Mexico/BajaNorte": "America/Tijuana",
      "Mexico/BajaSur": "America/Mazatlan", "Mexico/General": "America/Mexico_City", "NZ": "Pacific/Auckland",
      "NZ-CHAT": "Pacific/Chatham", "Navajo": "America/Denver", "PRC": "Asia/Shanghai", "Pacific/Enderbury": "Pacific/Kanton",
      "Pacific/Johnston": "Pacific/Honolulu", "Pacific/Ponape": "Pacific/Guadalcanal", "Pacific/Samoa": "Pacific/Pago_Pago",
      "Pacific/Truk": "Pacific/Port_Moresby", "Pacific/Yap": "Pacific/Port_Moresby", "Poland": "Europe/Warsaw",
      "Portugal": "Europe/Lisbon", "ROC": "Asia/Taipei", "ROK": "Asia/Seoul", "Singapore": "Asia/Singapore",
      "Turkey": "Europe/Istanbul", "US/Alaska": "America/Anchorage", "US/Aleutian": "America/Adak",
      "US/Arizona": "America/Phoenix", "US/Central": "America/Chicago", "US/East-Indiana": "America/Indiana/Indianapolis",
      "US/Eastern": "America/New_York", "US/Hawaii": "Pacific/Honolulu", "US/Indiana-Starke": "America/Indiana/Knox",
      "US/Michigan": "America/Detroit", "US/Mountain": "America/Denver", "US/Pacific": "America/Los_Angeles",
      "US/Samoa": "Pacific/Pago_Pago", "W-SU": "Europe/Moscow"
        }$json$::jsonb ->> name,
        name
    )
$$;

-- Returns the stored zone of a reader if PostgreSQL knows it, otherwise its current name, and otherwise UTC. Each use of
-- `users.time_zone` in a computation calls it, once per statement.
CREATE OR REPLACE FUNCTION known_zone(stored text) RETURNS text
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    ignored timestamp;
BEGIN
    IF stored = 'UTC' THEN
        RETURN stored;
    END IF;
    BEGIN
        ignored := timestamptz 'epoch' AT TIME ZONE stored;
        RETURN stored;
    EXCEPTION WHEN invalid_parameter_value THEN
        NULL;
    END;
    BEGIN
        ignored := timestamptz 'epoch' AT TIME ZONE current_zone_name(stored);
        RETURN current_zone_name(stored);
    EXCEPTION WHEN invalid_parameter_value THEN
        RETURN 'UTC';
    END;
END
$$;

-- Returns the name to store for a zone that a reader or a file gives, in any case of letters: the current name if PostgreSQL knows it.
-- Null if there is no such zone. Files of the time zone database that are not zones, and zones with leap seconds, are not accepted.
CREATE OR REPLACE FUNCTION zone_to_store(given text) RETURNS text
LANGUAGE sql STABLE
AS $$
    SELECT CASE WHEN known_zone(current_zone_name(z.name)) = current_zone_name(z.name) THEN current_zone_name(z.name) ELSE z.name END
    FROM pg_timezone_names z
    WHERE lower(z.name) = lower(given)
        AND z.name !~ '^(posix|right)/'
        AND z.name NOT IN ('Factory', 'localtime', 'posixrules')
$$;
