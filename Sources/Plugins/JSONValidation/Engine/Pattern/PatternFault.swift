/// Why a source is no regular expression that can be carried out, and where that shows.
struct PatternFault: Error, Hashable {
    /// Completes "the pattern …": "has a group that is not closed".
    var reason: String
    /// Unicode scalars before the place.
    var offset: Int
}
