extension ErrorTexts {
    static let french = ErrorTexts(
        language: "fr", groupSeparator: "\u{202F}", decimalSeparator: ",",
        signIn:
            "Connectez-vous et réessayez.",
        tooManyRequests:
            "Trop de requêtes. Réessayez dans {seconds} s.",
        notDone:
            "Le serveur n’a pas accès aux données pour le moment. Rien n’a été modifié. Réessayez dans {seconds} s.",
        unknownOutcome:
            "La base de données n’a pas répondu. La modification a peut-être été faite. Renvoyez-la dans {seconds} s avec le même identifiant.",
        storageFull:
            "Le serveur ne peut pas enregistrer de fichiers pour le moment. Rien n’a été modifié. Réessayez dans {seconds} s.",
        resetRequired:
            "Les modifications ne peuvent pas être reprises d’ici. Rechargez toute la bibliothèque.",
        internalError:
            "Une erreur interne s’est produite. Réessayez. Si elle persiste, signalez-la avec l’identifiant de la requête.",
        text: french)

    @Sendable private static func french(_ reason: ErrorReason) -> String {
        switch reason {
        case .empty: "Ce champ ne peut pas être vide."
        case .required: "Ce champ est obligatoire."
        case .tooLong: "{max} caractères au maximum sont autorisés."
        case .tooMany: "{max} éléments au maximum sont autorisés."
        case .tooSmall: "La valeur doit être au moins {min}."
        case .outOfRange: "La valeur doit être comprise entre {min} et {max}."
        case .duplicate: "Cette valeur est utilisée deux fois. Chaque élément doit avoir la sienne."
        case .conflictingFields: "Un seul de ces champs est possible : {value}."
        case .invalidChoice: "Cette valeur n’est pas possible ici."
        case .invalidCharacter: "Le texte contient un caractère NUL."
        case .invalidID: "L’identifiant doit être un UUID."
        case .invalidCursor: "Cette liste ne peut pas être reprise d’ici. Recommencez au début."
        case .invalidDate:
            "Indiquez une année, un mois ou un jour, par exemple 2019, 2019-05 ou 2019-05-01."
        case .inFuture: "Cette date est trop loin dans le futur."
        case .inPast: "Cette date est dans le passé."
        case .datesReversed: "La fin ne peut pas précéder le début. Corrigez l’une des deux dates."
        case .invalidLanguage: "« {value} » n’est pas une langue."
        case .unknownTimeZone: "Ce fuseau horaire n’existe pas."
        case .unknownGenre: "Le genre « {value} » n’existe pas."
        case .limitReached: "{max} au maximum sont autorisés. Supprimez-en d’abord."
        case .wrongConfirmation: "La suppression du compte n’a pas été confirmée correctement."
        case .invalidCredential: "La connexion avec Apple n’est pas valide. Reconnectez-vous."
        case .identityTaken:
            "Cette identité appartient à un autre compte. Connectez-vous avec elle pour utiliser ce compte."
        case .secondAppleIdentity: "Le compte a déjà une identité Apple. Dissociez-la d’abord."
        case .onlyIdentity:
            "C’est la seule identité du compte. Associez-en d’abord une autre, ou supprimez le compte."
        case .unknownDocument: "Le serveur ne connaît pas l’un de ces documents."
        case .scopeNotRequested: "N’autorisez que ce que l’application a demandé."
        case .alreadyDecided: "Cette demande a déjà reçu une réponse."
        case .signInUnavailable:
            "La connexion est temporairement impossible. Réessayez dans un instant."
        case .isbnLength: "Un ISBN a 10 ou 13 chiffres. Vérifiez le numéro et réessayez."
        case .isbnCheckDigit:
            "La clé de contrôle de l’ISBN ne correspond pas. Vérifiez qu’il n’y a pas de faute de frappe."
        case .notAnISBN:
            "Ce code-barres n’est pas un ISBN. Les ISBN commencent par 978, 9791 ou 9798."
        case .shortBarcode:
            "C’est un code-barres court, que les livres n’ont pas. Scannez celui qui commence par 978 ou 979."
        case .productBarcode:
            "Ce code-barres n’identifie pas un livre. Cherchez l’ISBN à côté ou sur la page de copyright."
        case .placeholderISBN: "Ce numéro est fictif, ce n’est pas l’ISBN d’un livre."
        case .unknownISBN: "Aucun livre n’est connu avec cet ISBN. Ajoutez-le avec son titre."
        case .sourcesUnavailable:
            "Aucun service de livres n’est disponible pour le moment. Réessayez plus tard, ou ajoutez le livre avec un titre."
        case .emptyBook: "Un livre doit avoir un titre ou un ISBN."
        case .emptyReview: "Une critique doit avoir une note ou un texte."
        case .emptyNote: "Une note doit avoir un extrait ou un commentaire."
        case .invalidStars: "Les étoiles doivent être un multiple de {min}, jusqu’à {max}."
        case .openReadWithEnd:
            "Une lecture en cours n’a pas de dernier jour. Retirez-le, ou terminez la lecture."
        case .severalOpenReads: "Un livre a au plus une lecture en cours. Terminez les autres."
        case .readIsOpen: "Vous lisez déjà ce livre. Terminez d’abord cette lecture."
        case .statusContradictsReads: "Un livre en cours de lecture ne peut pas avoir ce statut."
        case .beyondEnd: "C’est au-delà de la fin du livre : {max} au maximum."
        case .belowProgress:
            "Vous avez déjà atteint la page {min}. Le livre a au moins autant de pages."
        case .nameTaken: "« {value} » existe déjà. Choisissez un autre nom."
        case .alreadyInLibrary: "Ce livre est déjà dans votre bibliothèque."
        case .idTaken: "Cet identifiant appartient à un autre objet."
        case .deleted: "L’objet avec cet identifiant a été supprimé."
        case .guestBooks:
            "Un invité peut avoir {max} livres au maximum. Connectez-vous pour en ajouter."
        case .copyIsLent: "Cet exemplaire est déjà prêté. Notez d’abord son retour."
        case .invalidFile: "Le fichier est illisible."
        case .fileTooLarge: "Le fichier ne peut pas dépasser {max} Mio."
        case .notAFile: "Le fichier manque."
        case .invalidImage: "Cette image est illisible. Envoyez-la comme simple JPEG."
        case .invalidImageURL: "Aucune image ne peut être chargée depuis cette adresse."
        case .noImageAtURL: "Il n’y a pas d’image à cette adresse."
        case .lateImage: "L’image est arrivée trop tard. Renvoyez-la."
        case .coverStorageUsed:
            "Vos couvertures occupent tout votre espace. Retirez-en, puis réessayez."
        case .serverStorageFull: "L’espace pour les couvertures est plein. Réessayez plus tard."
        case .noSuchApp: "Cette application n’existe pas."
        case .noSuchAuthor: "Le catalogue n’a aucun livre de cette personne."
        case .noSuchAuthorization:
            "Aucune demande ne correspond à ce code. Les codes sont valables dix minutes : recommencez dans l’autre application."
        case .noSuchBook: "Ce livre n’est pas dans votre bibliothèque."
        case .noSuchCard: "Ce livre n’est pas dans le catalogue."
        case .noSuchCopy: "Cet exemplaire n’existe pas dans la bibliothèque."
        case .noSuchDeletedBook: "Ce livre n’a pas été supprimé au cours des 30 derniers jours."
        case .noSuchDocument: "Ce document n’existe pas. Ouvrez-le encore une fois sur la liseuse."
        case .noSuchGoal: "Cet objectif n’existe pas."
        case .noSuchImport: "Cette importation n’existe pas."
        case .noSuchLink: "Ce lien est invalide ou a expiré."
        case .noSuchNote: "Cette note n’existe pas."
        case .noSuchProgress: "Cette progression n’existe pas."
        case .noSuchRead: "Cette lecture n’existe pas."
        case .noSuchReview: "Cette critique n’existe pas."
        case .noSuchShelf: "Cette étagère n’existe pas."
        case .noSuchToken: "Ce jeton d’accès n’existe pas."
        case .noSuchUser: "Ce compte n’existe pas."
        }
    }
}
