public import Errand

extension ActivityKind {
    /// A batch of requests.
    public static let batch = ActivityKind(rawValue: "batch")
}
