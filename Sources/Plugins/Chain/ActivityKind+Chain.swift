public import Errand

extension ActivityKind {
    /// A chain of requests.
    public static let chain = ActivityKind(rawValue: "chain")
}
