/// A value in one of the documents.
struct SchemaLocation: Hashable, Sendable {
    var document: Int
    var value: Int
}
