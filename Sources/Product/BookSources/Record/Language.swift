/// Returns the two-letter code (ISO 639-1) for a three-letter code of Open Library. Unknown codes are returned unchanged.
package func languageCode(_ code: String) -> String {
    let twoLetters = [
        "ara": "ar", "bul": "bg", "cat": "ca", "ces": "cs", "chi": "zh", "cze": "cs", "dan": "da",
        "deu": "de", "dut": "nl", "ell": "el", "eng": "en", "est": "et", "fin": "fi", "fra": "fr",
        "fre": "fr", "ger": "de", "gle": "ga", "gre": "el", "heb": "he", "hin": "hi", "hrv": "hr",
        "hun": "hu", "ice": "is", "ind": "id", "ita": "it", "jpn": "ja", "kor": "ko", "lat": "la",
        "lav": "lv", "lit": "lt", "nld": "nl", "nor": "no", "per": "fa", "pol": "pl", "por": "pt",
        "ron": "ro", "rum": "ro", "rus": "ru", "slk": "sk", "slo": "sk", "slv": "sl", "spa": "es",
        "srp": "sr", "swe": "sv", "tha": "th", "tur": "tr", "ukr": "uk", "urd": "ur", "vie": "vi",
        "wel": "cy", "zho": "zh",
    ]
    return twoLetters[code] ?? code
}
