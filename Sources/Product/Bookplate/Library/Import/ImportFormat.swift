/// The application that has exported a file.
package enum ImportFormat: String, Sendable, CaseIterable {
    case goodreads = "GOODREADS"
    case storyGraph = "STORYGRAPH"
    case hardcover = "HARDCOVER"
    case libraryThing = "LIBRARYTHING"
    case calibre = "CALIBRE"
    case openReads = "OPENREADS"
    case bookplate = "BOOKPLATE"
}
