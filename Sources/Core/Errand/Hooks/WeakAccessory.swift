/// An accessory that does not keep its object alive, for one that owns the agent or the handle.
public struct WeakAccessory: Accessory {
    private weak let object: (any Accessory & AnyObject)?
    /// That of the object.
    public let maximumBodyBytes: Int
    /// That of the object.
    public let observesMessages: Bool
    /// Whether the object still exists and listens.
    public var isListening: Bool { object?.isListening ?? false }

    /// Holds the object weakly.
    public init(_ object: any Accessory & AnyObject) {
        self.object = object
        (maximumBodyBytes, observesMessages) = (object.maximumBodyBytes, object.observesMessages)
    }

    /// Passes the event on, while the object exists.
    public func activity(_ activity: Activity, did event: ActivityEvent) { object?.activity(activity, did: event) }
}
