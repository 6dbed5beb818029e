import Foundation
import GRDB

/// The effect of a write on the local library: what the server will do, by the same rules.
///
/// A write whose object is not there has no effect. It is sent nevertheless: the server decides.
struct LocalEffect {
    let state: LibraryState
    let write: Write

    func apply() throws {
        switch write.operation {
        case .createShelf: try createShelf()
        case .updateShelf: try updateShelf()
        case .deleteShelf: try deleteShelf()
        case .createBook: try createBook()
        case .updateBook: try updateBook()
        case .moveBook: try moveBook()
        case .deleteBook: try state.deleteBook(write.target)
        // Only the server knows the contents of the deleted book.
        case .restoreBook: break
        case .reviewBook: try reviewBook()
        case .deleteReview: try change(Book.self, write.target) { $0.review = nil }
        case .startRead: try startRead()
        case .updateRead, .finishRead: try updateRead()
        case .deleteRead: try deleteRead()
        case .logProgress: try logProgress()
        case .updateProgress: try updateProgress()
        case .deleteProgress: try deleteProgress()
        case .createNote: try createNote()
        case .updateNote: try updateNote()
        case .deleteNote: try state.delete(Note.self, write.target)
        case .setReadingGoal: try setReadingGoal()
        case .deleteReadingGoal: try state.delete(ReadingGoal.self, write.target)
        case .recordSwipes: try recordSwipes()
        case .undoSwipe: try undoSwipe()
        case .setCover: try setCover()
        case .removeCover: try change(Book.self, write.target) { $0.image = nil }
        }
    }

    /// Changes an object, unless it is not there.
    func change<Object: LibraryObject>(
        _ type: Object.Type, _ id: String, _ body: (inout Object) throws -> Void
    ) throws {
        guard var object = try state.find(type, id) else { return }
        try body(&object)
        try state.save(object)
    }

    /// Sets a property to a member of the input. An absent member changes nothing, and null clears the property.
    func set(_ property: inout String?, _ name: String) {
        if let value = write.input[name] { property = value.string }
    }

    func set(_ property: inout Int?, _ name: String) {
        if let value = write.input[name] { property = value.int }
    }

    func set<Value: OpenEnum>(_ property: inout Value?, _ name: String) {
        if let value = write.input[name] { property = value.string.map(Value.init(rawValue:)) }
    }

    func set(_ property: inout PartialDate?, _ name: String) {
        if let value = write.input[name] {
            property = value.string.map(PartialDate.init(rawValue:))
        }
    }
}
