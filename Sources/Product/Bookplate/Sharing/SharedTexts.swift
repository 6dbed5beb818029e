/// The texts of the pages of links in one language. `{name}` is the reader, and `{app}` the app with which the link was created.
struct SharedTexts: Sendable {
    /// A language tag (BCP 47).
    let language: String
    let sharedBy: String
    let sharedWith: String
    let more: String
    let stars: String
    let spoilers: String
    let page: String
    let books: String
    let pages: String
    let hours: String
    let perMonth: String
    let empty: String
    let missingTitle: String
    let missingText: String

    /// All languages, which are those of `OAuthTexts`. The first one is for browsers that prefer none of them.
    static let all = [english, german, french, spanish, japanese]

    /// Returns the texts in the language with the highest weight in a header `Accept-Language`.
    static func preferred(by header: String?) -> SharedTexts {
        for language in ReaderLanguages.accepted(header) {
            if let texts = all.first(where: { $0.language == language }) { return texts }
        }
        return english
    }

    static let english = SharedTexts(
        language: "en", sharedBy: "Shared by {name} via {app}", sharedWith: "Shared via {app}",
        more: "More books", stars: "stars", spoilers: "Show the text, which contains spoilers",
        page: "Page", books: "Books", pages: "Pages", hours: "Hours listened",
        perMonth: "Books per month", empty: "There are no books here yet.",
        missingTitle: "Nothing is shared here",
        missingText: "The link is incomplete, or the reader no longer shares this.")

    static let german = SharedTexts(
        language: "de", sharedBy: "Geteilt von {name} über {app}", sharedWith: "Geteilt über {app}",
        more: "Weitere Bücher", stars: "Sterne",
        spoilers: "Text anzeigen, der die Handlung verrät", page: "Seite", books: "Bücher",
        pages: "Seiten", hours: "Gehörte Stunden", perMonth: "Bücher pro Monat",
        empty: "Hier sind noch keine Bücher.", missingTitle: "Hier wird nichts geteilt",
        missingText: "Der Link ist unvollständig, oder er wurde beendet.")

    static let french = SharedTexts(
        language: "fr", sharedBy: "Partagé par {name} via {app}",
        sharedWith: "Partagé via {app}", more: "Plus de livres", stars: "étoiles",
        spoilers: "Afficher le texte, qui dévoile l’intrigue", page: "Page", books: "Livres",
        pages: "Pages", hours: "Heures d’écoute", perMonth: "Livres par mois",
        empty: "Il n’y a pas encore de livres ici.", missingTitle: "Rien n’est partagé ici",
        missingText: "Le lien est incomplet, ou il a été supprimé.")

    static let spanish = SharedTexts(
        language: "es", sharedBy: "Compartido por {name} mediante {app}",
        sharedWith: "Compartido mediante {app}", more: "Más libros", stars: "estrellas",
        spoilers: "Mostrar el texto, que revela la trama", page: "Página", books: "Libros",
        pages: "Páginas", hours: "Horas escuchadas", perMonth: "Libros por mes",
        empty: "Aquí todavía no hay libros.", missingTitle: "Aquí no se comparte nada",
        missingText: "El enlace está incompleto o ya no existe.")

    static let japanese = SharedTexts(
        language: "ja", sharedBy: "{name} さんが {app} で共有しています", sharedWith: "{app} で共有されています",
        more: "さらに表示", stars: "つ星", spoilers: "ネタバレを含む本文を表示", page: "ページ", books: "冊数",
        pages: "ページ数", hours: "聴いた時間", perMonth: "月ごとの冊数", empty: "まだ本がありません。",
        missingTitle: "共有されているものはありません",
        missingText: "リンクが不完全か、共有が終了しています。")
}
