public import Errand

extension ActivityKind {
    /// A batch.
    public static let batch = ActivityKind(rawValue: "batch")
}
