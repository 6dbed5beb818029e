import Requests

/// The constraints of all tables that input can violate, with their errors.
let violableConstraints: [String: BookplateError] = [
    Shelf.constraints, Book.constraints, Review.constraints, Read.constraints, Note.constraints,
    Cover.constraints, BookCopy.constraints,
].reduce(into: [:]) { all, constraints in all.merge(constraints) { first, _ in first } }
