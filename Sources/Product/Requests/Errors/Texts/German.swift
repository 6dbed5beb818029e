extension ErrorTexts {
    static let german = ErrorTexts(
        language: "de", groupSeparator: ".", decimalSeparator: ",",
        signIn:
            "Melde dich an und versuche es noch einmal.",
        tooManyRequests:
            "Zu viele Anfragen. Versuche es in {seconds} s noch einmal.",
        notDone:
            "Der Server erreicht die Daten gerade nicht. Nichts wurde geändert. Versuche es in {seconds} s noch einmal.",
        unknownOutcome:
            "Die Datenbank hat nicht geantwortet. Die Änderung ist vielleicht erfolgt. Sende sie in {seconds} s mit derselben ID noch einmal.",
        storageFull:
            "Der Server kann gerade keine Dateien speichern. Nichts wurde geändert. Versuche es in {seconds} s noch einmal.",
        resetRequired:
            "Die Änderungen lassen sich von hier nicht fortsetzen. Lade die ganze Bibliothek neu.",
        internalError:
            "Ein interner Fehler ist aufgetreten. Versuche es noch einmal. Wenn er bleibt, melde ihn mit der ID der Anfrage.",
        text: german)

    @Sendable private static func german(_ reason: ErrorReason) -> String {
        switch reason {
        case .empty: "Hier fehlt eine Eingabe."
        case .required: "Dieser Wert ist erforderlich."
        case .tooLong: "Höchstens {max} Zeichen sind erlaubt."
        case .tooMany: "Höchstens {max} Einträge sind erlaubt."
        case .tooSmall: "Der Wert muss mindestens {min} sein."
        case .outOfRange: "Der Wert muss zwischen {min} und {max} liegen."
        case .duplicate: "Dieser Wert kommt doppelt vor. Jeder Eintrag braucht einen eigenen."
        case .conflictingFields: "Nur eines davon ist möglich: {value}."
        case .invalidChoice: "Dieser Wert ist hier nicht möglich."
        case .invalidCharacter: "Der Text enthält ein NUL-Zeichen."
        case .invalidID: "Die ID muss eine UUID sein."
        case .invalidCursor: "Diese Liste lässt sich hier nicht fortsetzen. Beginne von vorn."
        case .invalidDate:
            "Schreibe ein Jahr, einen Monat oder einen Tag, zum Beispiel 2019, 2019-05 oder 2019-05-01."
        case .inFuture: "Dieser Zeitpunkt liegt zu weit in der Zukunft."
        case .inPast: "Dieser Zeitpunkt liegt in der Vergangenheit."
        case .datesReversed:
            "Das Ende kann nicht vor dem Anfang liegen. Korrigiere eines der beiden Daten."
        case .invalidLanguage: "„{value}“ ist keine Sprache."
        case .unknownTimeZone: "Diese Zeitzone gibt es nicht."
        case .unknownGenre: "Das Genre „{value}“ gibt es nicht."
        case .limitReached: "Höchstens {max} sind erlaubt. Lösche zuerst einige."
        case .wrongConfirmation: "Das Löschen des Kontos wurde nicht richtig bestätigt."
        case .invalidCredential:
            "Die Anmeldung mit Apple ist nicht gültig. Melde dich noch einmal an."
        case .identityTaken:
            "Diese Anmeldung gehört zu einem anderen Konto. Melde dich damit an, um jenes Konto zu verwenden."
        case .secondAppleIdentity:
            "Das Konto hat schon eine Anmeldung von Apple. Entferne diese zuerst."
        case .onlyIdentity:
            "Das ist die einzige Anmeldung des Kontos. Füge zuerst eine andere hinzu, oder lösche das Konto."
        case .unknownDocument: "Eines dieser Dokumente ist dem Server nicht bekannt."
        case .scopeNotRequested: "Erlaube nur, worum die App gebeten hat."
        case .alreadyDecided: "Über diese Anfrage wurde schon entschieden."
        case .signInUnavailable:
            "Die Anmeldung ist gerade nicht möglich. Versuche es gleich noch einmal."
        case .isbnLength:
            "Eine ISBN hat 10 oder 13 Ziffern. Prüfe die Nummer und versuche es noch einmal."
        case .isbnCheckDigit:
            "Die Prüfziffer der ISBN stimmt nicht. Prüfe, ob du dich vertippt hast."
        case .notAnISBN: "Dieser Strichcode ist keine ISBN. ISBNs beginnen mit 978, 9791 oder 9798."
        case .shortBarcode:
            "Das ist ein kurzer Strichcode, den Bücher nicht haben. Scanne den, der mit 978 oder 979 beginnt."
        case .productBarcode:
            "Dieser Strichcode gehört nicht zu einem bestimmten Buch. Suche die ISBN daneben oder im Impressum."
        case .placeholderISBN: "Diese Nummer ist ein Platzhalter, nicht die ISBN eines Buchs."
        case .unknownISBN: "Zu dieser ISBN ist kein Buch bekannt. Füge es mit seinem Titel hinzu."
        case .sourcesUnavailable:
            "Gerade ist kein Buchdienst erreichbar. Versuche es später noch einmal, oder füge das Buch mit einem Titel hinzu."
        case .emptyBook: "Ein Buch braucht einen Titel oder eine ISBN."
        case .emptyReview: "Eine Rezension braucht eine Bewertung oder einen Text."
        case .emptyNote: "Eine Notiz braucht eine Textstelle oder einen Kommentar."
        case .invalidStars: "Sterne gibt es in Schritten von {min}, höchstens {max}."
        case .openReadWithEnd:
            "Solange du liest, gibt es keinen letzten Tag. Entferne ihn, oder beende das Lesen."
        case .severalOpenReads:
            "Ein Buch wird höchstens einmal gleichzeitig gelesen. Beende die anderen Lesevorgänge."
        case .readIsOpen: "Du liest dieses Buch schon. Beende das zuerst."
        case .statusContradictsReads:
            "Ein Buch, das du gerade liest, kann diesen Status nicht haben."
        case .beyondEnd: "Das liegt hinter dem Ende des Buchs: Höchstens {max} ist möglich."
        case .belowProgress:
            "Du hast schon Seite {min} erreicht. Das Buch hat mindestens so viele Seiten."
        case .nameTaken: "„{value}“ gibt es schon. Wähle einen anderen Namen."
        case .alreadyInLibrary: "Dieses Buch ist schon in deiner Bibliothek."
        case .idTaken: "Diese ID gehört zu einem anderen Objekt."
        case .deleted: "Das Objekt mit dieser ID wurde gelöscht."
        case .guestBooks:
            "Als Gast kannst du höchstens {max} Bücher haben. Melde dich an, um weitere hinzuzufügen."
        case .copyIsLent:
            "Dieses Exemplar ist schon verliehen. Trage zuerst ein, dass es zurück ist."
        case .invalidFile: "Die Datei kann nicht gelesen werden."
        case .fileTooLarge: "Die Datei darf höchstens {max} MiB groß sein."
        case .notAFile: "Die Datei fehlt."
        case .invalidImage: "Dieses Bild kann nicht gelesen werden. Sende es als einfaches JPEG."
        case .invalidImageURL: "Von dieser Adresse kann kein Bild geladen werden."
        case .noImageAtURL: "Unter dieser Adresse ist kein Bild."
        case .lateImage: "Das Bild kam zu spät an. Sende es noch einmal."
        case .coverStorageUsed:
            "Deine Cover belegen deinen ganzen Speicher. Entferne einige, und versuche es noch einmal."
        case .serverStorageFull: "Der Speicher für Cover ist voll. Versuche es später noch einmal."
        case .noSuchApp: "Diese App gibt es nicht."
        case .noSuchAuthor: "Der Katalog hat kein Buch dieser Person."
        case .noSuchAuthorization:
            "Zu diesem Code gibt es keine Anfrage. Codes gelten zehn Minuten: Beginne in der anderen App noch einmal."
        case .noSuchBook: "Dieses Buch ist nicht in deiner Bibliothek."
        case .noSuchCard: "Dieses Buch ist nicht im Katalog."
        case .noSuchCopy: "Dieses Exemplar eines Buchs gibt es in der Bibliothek nicht."
        case .noSuchDeletedBook: "Dieses Buch wurde in den letzten 30 Tagen nicht gelöscht."
        case .noSuchDocument:
            "Dieses Dokument gibt es nicht. Öffne es noch einmal auf dem E-Reader."
        case .noSuchGoal: "Dieses Ziel gibt es nicht."
        case .noSuchImport: "Diesen Import gibt es nicht."
        case .noSuchLink: "Dieser Link ist ungültig oder abgelaufen."
        case .noSuchNote: "Diese Notiz gibt es nicht."
        case .noSuchProgress: "Diesen Lesestand gibt es nicht."
        case .noSuchRead: "Diesen Lesevorgang gibt es nicht."
        case .noSuchReview: "Diese Rezension gibt es nicht."
        case .noSuchShelf: "Dieses Regal gibt es nicht."
        case .noSuchToken: "Dieses Zugriffstoken gibt es nicht."
        case .noSuchUser: "Dieses Konto gibt es nicht."
        }
    }
}
