/// A schema with its own URI, and its anchors.
struct SchemaResource {
    var uri: String
    var root: SchemaLocation
    var vocabulary: SchemaVocabulary
    var anchors: [String: SchemaLocation] = [:]
    var dynamicAnchors: [String: SchemaLocation] = [:]
}

/// A value in one of the documents.
struct SchemaLocation: Hashable, Sendable {
    var document: Int
    var value: Int
}
