import Requests

/// The texts of the pages of OAuth in one language. `{client}` is the app that asks, `{app}` the reader's own app, and `{host}` where the
/// browser returns.
struct OAuthTexts: Sendable {
    /// A language tag (BCP 47).
    let language: String
    let title: String
    let asks: String
    let readsLibrary: String
    let changesLibrary: String
    let storesProgress: String
    let readsFeed: String
    let changesAccount: String
    let unverified: String
    let confirm: String
    let steps: String
    let waiting: String
    let notYet: String
    let returns: String
    let proceed: String
    let cancel: String
    let deviceTitle: String
    let deviceSteps: String
    let deviceWarning: String
    let canceledTitle: String
    let endedTitle: String
    let endedText: String
    let back: String
    let errorTitle: String
    let errorText: String

    func scope(_ scope: AccessScope) -> String {
        switch scope {
        case .libraryRead: readsLibrary
        case .libraryWrite: changesLibrary
        case .progress: storesProgress
        case .feed: readsFeed
        case .account: changesAccount
        }
    }

    /// All languages. The first one is for browsers that prefer none of them.
    static let all = [english, german, french, spanish, japanese]

    /// Returns the texts in the language with the highest weight in a header `Accept-Language`.
    static func preferred(by header: String?) -> OAuthTexts {
        for language in ReaderLanguages.accepted(header) {
            if let texts = all.first(where: { $0.language == language }) { return texts }
        }
        return english
    }

    static let english = OAuthTexts(
        language: "en",
        title: "Connect {client} to {app}?",
        asks: "{client} asks for access to your account in {app}. If you allow it, {client} can:",
        readsLibrary: "read your library: books, shelves, reviews, notes, and statistics",
        changesLibrary: "read and change your library: books, shelves, reviews, and notes",
        storesProgress: "read and store how far you have read",
        readsFeed: "read your recommendations and what you swiped, and search for books",
        changesAccount:
            "read and change your profile, and read your e-mail address, devices, and connected apps",
        unverified: "Nobody has checked who {client} belongs to. Continue only if you trust it.",
        confirm: "Confirm in {app}",
        steps:
            "Open {app}, where you are signed in, and enter this code under connected apps. Enter it only if you started this yourself.",
        waiting: "Waiting for your confirmation.",
        notYet: "You have not confirmed yet. Enter the code in {app} first.",
        returns: "After that, you return to {host}.",
        proceed: "Continue",
        cancel: "Cancel",
        deviceTitle: "Connect a device to {app}",
        deviceSteps:
            "Open {app} on the phone or computer where you are signed in, and enter the code that the device shows under connected apps.",
        deviceWarning:
            "Enter only a code that you see on your own device. Never enter a code that someone has sent you.",
        canceledTitle: "Canceled",
        endedTitle: "This request has ended",
        endedText:
            "It was answered already, or it took longer than ten minutes. Start again in {client}.",
        back: "Back to {client}",
        errorTitle: "This link does not work",
        errorText:
            "Go back to the app that sent you here, and start again. If that does not help, send this message to its developer:"
    )

    static let german = OAuthTexts(
        language: "de",
        title: "{client} mit {app} verbinden?",
        asks:
            "{client} möchte auf dein Konto in {app} zugreifen. Wenn du zustimmst, kann {client}:",
        readsLibrary:
            "deine Bibliothek lesen: Bücher, Regale, Rezensionen, Notizen und Statistiken",
        changesLibrary:
            "deine Bibliothek lesen und ändern: Bücher, Regale, Rezensionen und Notizen",
        storesProgress: "lesen und speichern, wie weit du gelesen hast",
        readsFeed:
            "deine Empfehlungen und deine Bewertungen dazu lesen und nach Büchern suchen",
        changesAccount:
            "dein Profil lesen und ändern und deine E-Mail-Adresse, Geräte und verbundenen Apps lesen",
        unverified:
            "Niemand hat geprüft, wem {client} gehört. Fahre nur fort, wenn du der App vertraust.",
        confirm: "In {app} bestätigen",
        steps:
            "Öffne {app}, wo du angemeldet bist, und gib diesen Code unter „Verbundene Apps“ ein. Gib ihn nur ein, wenn du das selbst begonnen hast.",
        waiting: "Deine Bestätigung wird erwartet.",
        notYet: "Du hast noch nicht bestätigt. Gib zuerst den Code in {app} ein.",
        returns: "Danach kehrst du zu {host} zurück.",
        proceed: "Weiter",
        cancel: "Abbrechen",
        deviceTitle: "Ein Gerät mit {app} verbinden",
        deviceSteps:
            "Öffne {app} auf dem Telefon oder Computer, auf dem du angemeldet bist, und gib unter „Verbundene Apps“ den Code ein, den das Gerät zeigt.",
        deviceWarning:
            "Gib nur einen Code ein, den du auf deinem eigenen Gerät siehst, und nie einen, den dir jemand geschickt hat.",
        canceledTitle: "Abgebrochen",
        endedTitle: "Diese Anfrage ist beendet",
        endedText:
            "Sie wurde schon beantwortet oder hat länger als zehn Minuten gedauert. Beginne in {client} noch einmal.",
        back: "Zurück zu {client}",
        errorTitle: "Dieser Link funktioniert nicht",
        errorText:
            "Geh zurück zu der App, von der du kommst, und beginne noch einmal. Wenn das nicht hilft, sag es ihrem Entwickler:"
    )

    static let french = OAuthTexts(
        language: "fr",
        title: "Connecter {client} à {app} ?",
        asks:
            "{client} demande l’accès à votre compte dans {app}. Si vous l’autorisez, {client} pourra :",
        readsLibrary:
            "lire votre bibliothèque : livres, étagères, critiques, notes et statistiques",
        changesLibrary:
            "lire et modifier votre bibliothèque : livres, étagères, critiques et notes",
        storesProgress: "lire et enregistrer votre progression de lecture",
        readsFeed:
            "lire vos recommandations et les choix que vous y avez faits, et rechercher des livres",
        changesAccount:
            "lire et modifier votre profil, et lire votre adresse e-mail, vos appareils et les apps connectées",
        unverified:
            "Personne n’a vérifié à qui appartient {client}. Ne continuez que si vous lui faites confiance.",
        confirm: "Confirmer dans {app}",
        steps:
            "Ouvrez {app}, où vous êtes connecté, et saisissez ce code dans les applications connectées. Ne le saisissez que si vous avez vous-même commencé cette demande.",
        waiting: "En attente de votre confirmation.",
        notYet: "Vous n’avez pas encore confirmé. Saisissez d’abord le code dans {app}.",
        returns: "Vous reviendrez ensuite sur {host}.",
        proceed: "Continuer",
        cancel: "Annuler",
        deviceTitle: "Connecter un appareil à {app}",
        deviceSteps:
            "Ouvrez {app} sur le téléphone ou l’ordinateur où vous êtes connecté, et saisissez dans les applications connectées le code affiché par l’appareil.",
        deviceWarning:
            "Ne saisissez qu’un code que vous voyez sur votre propre appareil, jamais un code que quelqu’un vous a envoyé.",
        canceledTitle: "Demande annulée",
        endedTitle: "Cette demande est terminée",
        endedText:
            "Elle a déjà reçu une réponse, ou elle a duré plus de dix minutes. Recommencez dans {client}.",
        back: "Retour à {client}",
        errorTitle: "Ce lien ne fonctionne pas",
        errorText:
            "Revenez à l’application d’où vous venez et recommencez. Si cela ne suffit pas, prévenez son développeur :"
    )

    static let spanish = OAuthTexts(
        language: "es",
        title: "¿Conectar {client} con {app}?",
        asks:
            "{client} pide acceso a tu cuenta de {app}. Si lo permites, {client} podrá:",
        readsLibrary:
            "leer tu biblioteca: libros, estanterías, reseñas, notas y estadísticas",
        changesLibrary: "leer y modificar tu biblioteca: libros, estanterías, reseñas y notas",
        storesProgress: "leer y guardar por dónde vas en tus lecturas",
        readsFeed:
            "leer tus recomendaciones y lo que has elegido en ellas, y buscar libros",
        changesAccount:
            "leer y modificar tu perfil, y leer tu correo electrónico, tus dispositivos y las apps conectadas",
        unverified:
            "Nadie ha comprobado a quién pertenece {client}. Continúa solo si confías en la aplicación.",
        confirm: "Confirma en {app}",
        steps:
            "Abre {app}, donde has iniciado sesión, e introduce este código en las aplicaciones conectadas. Introdúcelo solo si has empezado tú.",
        waiting: "Esperando tu confirmación.",
        notYet: "Todavía no has confirmado. Introduce primero el código en {app}.",
        returns: "Después volverás a {host}.",
        proceed: "Continuar",
        cancel: "Cancelar",
        deviceTitle: "Conectar un dispositivo con {app}",
        deviceSteps:
            "Abre {app} en el teléfono u ordenador donde has iniciado sesión e introduce en las aplicaciones conectadas el código que muestra el dispositivo.",
        deviceWarning:
            "Introduce solo un código que veas en tu propio dispositivo, nunca uno que te haya enviado otra persona.",
        canceledTitle: "Solicitud cancelada",
        endedTitle: "Esta solicitud ha terminado",
        endedText:
            "Ya se respondió o tardó más de diez minutos. Empieza de nuevo en {client}.",
        back: "Volver a {client}",
        errorTitle: "Este enlace no funciona",
        errorText:
            "Vuelve a la aplicación desde la que has llegado y empieza de nuevo. Si no sirve, avisa a su desarrollador:"
    )

    static let japanese = OAuthTexts(
        language: "ja",
        title: "{client}を{app}に接続しますか？",
        asks: "{client}が{app}のアカウントへのアクセスを求めています。許可すると、{client}は次のことができます。",
        readsLibrary: "ライブラリの閲覧（本、本棚、レビュー、メモ、統計）",
        changesLibrary: "ライブラリの閲覧と変更（本、本棚、レビュー、メモ）",
        storesProgress: "読書の進み具合の閲覧と保存",
        readsFeed: "おすすめとその評価の閲覧、本の検索",
        changesAccount: "プロフィールの閲覧と変更、メールアドレス・端末・連携アプリの閲覧",
        unverified: "{client}の提供者は確認されていません。信頼できる場合だけ続けてください。",
        confirm: "{app}で確認",
        steps: "サインイン済みの{app}を開き、接続済みアプリの画面でこのコードを入力してください。ご自身で始めた場合だけ入力してください。",
        waiting: "確認を待っています。",
        notYet: "まだ確認されていません。先に{app}でコードを入力してください。",
        returns: "そのあと{host}に戻ります。",
        proceed: "続ける",
        cancel: "キャンセル",
        deviceTitle: "デバイスを{app}に接続",
        deviceSteps: "サインイン済みの電話またはパソコンで{app}を開き、接続済みアプリの画面で、デバイスに表示されたコードを入力してください。",
        deviceWarning: "ご自身のデバイスに表示されたコードだけを入力してください。他の人から送られたコードは決して入力しないでください。",
        canceledTitle: "キャンセルしました",
        endedTitle: "このリクエストは終了しました",
        endedText: "すでに回答済みか、10分を過ぎました。{client}でもう一度始めてください。",
        back: "{client}に戻る",
        errorTitle: "このリンクは使えません",
        errorText: "元のアプリに戻り、もう一度始めてください。解決しない場合は、次の内容を開発者に伝えてください。"
    )
}
