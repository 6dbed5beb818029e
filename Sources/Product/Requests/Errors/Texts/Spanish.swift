extension ErrorTexts {
    static let spanish = ErrorTexts(
        language: "es", groupSeparator: ".", decimalSeparator: ",",
        signIn:
            "Inicia sesión e inténtalo de nuevo.",
        tooManyRequests:
            "Demasiadas solicitudes. Inténtalo de nuevo en {seconds} s.",
        notDone:
            "El servidor no puede acceder a los datos ahora. No se ha cambiado nada. Inténtalo de nuevo en {seconds} s.",
        unknownOutcome:
            "La base de datos no ha respondido. Es posible que el cambio se haya hecho. Envíalo de nuevo en {seconds} s con el mismo identificador.",
        storageFull:
            "El servidor no puede guardar archivos ahora. No se ha cambiado nada. Inténtalo de nuevo en {seconds} s.",
        resetRequired:
            "Los cambios no pueden continuar desde aquí. Carga de nuevo toda la biblioteca.",
        internalError:
            "Se ha producido un error interno. Inténtalo de nuevo. Si continúa, comunícalo con el identificador de la solicitud.",
        text: spanish)

    @Sendable private static func spanish(_ reason: ErrorReason) -> String {
        switch reason {
        case .empty: "Este campo no puede estar vacío."
        case .required: "Este campo es obligatorio."
        case .tooLong: "Se permiten como máximo {max} caracteres."
        case .tooMany: "Se permiten como máximo {max} elementos."
        case .tooSmall: "El valor debe ser al menos {min}."
        case .outOfRange: "El valor debe estar entre {min} y {max}."
        case .duplicate: "Este valor se usa dos veces. Cada elemento necesita el suyo."
        case .conflictingFields: "Solo es posible uno de estos campos: {value}."
        case .invalidChoice: "Este valor no es posible aquí."
        case .invalidCharacter: "El texto contiene un carácter NUL."
        case .invalidID: "El identificador debe ser un UUID."
        case .invalidCursor: "Esta lista no puede continuar desde aquí. Empieza desde el principio."
        case .invalidDate:
            "Escribe un año, un mes o un día, por ejemplo 2019, 2019-05 o 2019-05-01."
        case .inFuture: "Esta fecha está demasiado lejos en el futuro."
        case .inPast: "Esta fecha está en el pasado."
        case .datesReversed:
            "El final no puede ser anterior al comienzo. Corrige una de las dos fechas."
        case .invalidLanguage: "«{value}» no es un idioma."
        case .unknownTimeZone: "Esta zona horaria no existe."
        case .unknownGenre: "El género «{value}» no existe."
        case .limitReached: "Se permiten como máximo {max}. Elimina antes algunos."
        case .wrongConfirmation: "La eliminación de la cuenta no se ha confirmado correctamente."
        case .invalidCredential:
            "El inicio de sesión con Apple no es válido. Inicia sesión de nuevo."
        case .identityTaken:
            "Esta identidad pertenece a otra cuenta. Inicia sesión con ella para usar esa cuenta."
        case .secondAppleIdentity: "La cuenta ya tiene una identidad de Apple. Desvincúlala antes."
        case .onlyIdentity:
            "Es la única identidad de la cuenta. Vincula antes otra, o elimina la cuenta."
        case .unknownDocument: "El servidor no conoce uno de estos documentos."
        case .scopeNotRequested: "Permite solo lo que la aplicación ha pedido."
        case .alreadyDecided: "Esta solicitud ya se respondió."
        case .signInUnavailable:
            "No es posible iniciar sesión en este momento. Inténtalo de nuevo en un instante."
        case .isbnLength: "Un ISBN tiene 10 o 13 cifras. Comprueba el número e inténtalo de nuevo."
        case .isbnCheckDigit:
            "El dígito de control del ISBN no coincide. Comprueba si hay un error al escribir."
        case .notAnISBN:
            "Este código de barras no es un ISBN. Los ISBN empiezan por 978, 9791 o 9798."
        case .shortBarcode:
            "Es un código de barras corto, que los libros no tienen. Escanea el que empieza por 978 o 979."
        case .productBarcode:
            "Este código de barras no identifica un libro. Busca el ISBN al lado o en la página de créditos."
        case .placeholderISBN: "Este número es ficticio, no es el ISBN de un libro."
        case .unknownISBN: "No se conoce ningún libro con este ISBN. Añádelo con su título."
        case .sourcesUnavailable:
            "Ningún servicio de libros está disponible ahora. Inténtalo más tarde, o añade el libro con un título."
        case .emptyBook: "Un libro necesita un título o un ISBN."
        case .emptyReview: "Una reseña necesita una puntuación o un texto."
        case .emptyNote: "Una nota necesita un pasaje o un comentario."
        case .invalidStars: "Las estrellas deben ser un múltiplo de {min}, como máximo {max}."
        case .openReadWithEnd:
            "Una lectura en curso no tiene último día. Quítalo, o termina la lectura."
        case .severalOpenReads:
            "Un libro tiene como máximo una lectura en curso. Termina las demás."
        case .readIsOpen: "Ya estás leyendo este libro. Termina antes esa lectura."
        case .statusContradictsReads: "Un libro que estás leyendo no puede tener este estado."
        case .beyondEnd: "Está más allá del final del libro: {max} como máximo."
        case .belowProgress:
            "Ya has llegado a la página {min}. El libro tiene al menos esas páginas."
        case .nameTaken: "«{value}» ya existe. Elige otro nombre."
        case .alreadyInLibrary: "Este libro ya está en tu biblioteca."
        case .idTaken: "Este identificador pertenece a otro objeto."
        case .deleted: "El objeto con este identificador se ha eliminado."
        case .guestBooks:
            "Un invitado puede tener como máximo {max} libros. Inicia sesión para añadir más."
        case .copyIsLent: "Este ejemplar ya está prestado. Anota antes su devolución."
        case .invalidFile: "No se puede leer el archivo."
        case .fileTooLarge: "El archivo puede tener como máximo {max} MiB."
        case .notAFile: "Falta el archivo."
        case .invalidImage: "No se puede leer esta imagen. Envíala como JPEG sencillo."
        case .invalidImageURL: "No se puede cargar ninguna imagen desde esta dirección."
        case .noImageAtURL: "En esta dirección no hay ninguna imagen."
        case .lateImage: "La imagen ha llegado demasiado tarde. Envíala de nuevo."
        case .coverStorageUsed:
            "Tus portadas ocupan todo tu espacio. Quita algunas e inténtalo de nuevo."
        case .serverStorageFull: "El espacio para portadas está lleno. Inténtalo más tarde."
        case .noSuchApp: "Esta aplicación no existe."
        case .noSuchAuthor: "El catálogo no tiene ningún libro de esta persona."
        case .noSuchAuthorization:
            "Ninguna solicitud tiene este código. Los códigos valen diez minutos: empieza de nuevo en la otra aplicación."
        case .noSuchBook: "Este libro no está en tu biblioteca."
        case .noSuchCard: "Este libro no está en el catálogo."
        case .noSuchCopy: "No hay tal ejemplar en la biblioteca."
        case .noSuchDeletedBook: "Este libro no se ha eliminado en los últimos 30 días."
        case .noSuchDocument: "Este documento no existe. Ábrelo otra vez en el lector electrónico."
        case .noSuchGoal: "Este objetivo no existe."
        case .noSuchImport: "Esta importación no existe."
        case .noSuchLink: "Este enlace no es válido o ha caducado."
        case .noSuchNote: "Esta nota no existe."
        case .noSuchProgress: "Este progreso no existe."
        case .noSuchRead: "Esta lectura no existe."
        case .noSuchReview: "Esta reseña no existe."
        case .noSuchShelf: "Esta estantería no existe."
        case .noSuchToken: "Este token de acceso no existe."
        case .noSuchUser: "Esta cuenta no existe."
        }
    }
}
