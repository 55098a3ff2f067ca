public import Errand

extension ActivityKind {
    /// The delivery of an entry of an outbox: from its turn to what became of it, with its request as its child.
    public static let outbox = ActivityKind(rawValue: "outbox")
}
