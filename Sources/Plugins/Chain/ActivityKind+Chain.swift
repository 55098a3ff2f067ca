public import Errand

extension ActivityKind {
    /// A chain.
    public static let chain = ActivityKind(rawValue: "chain")
}
