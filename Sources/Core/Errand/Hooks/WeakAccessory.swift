/// An accessory that doesn't keep its object alive. Use it for an object that owns the agent or the handle.
public struct WeakAccessory: Accessory {
    private weak let object: (any Accessory & AnyObject)?
    /// The value of the object.
    public let maximumBodyBytes: Int
    /// The value of the object.
    public let observesMessages: Bool
    /// Whether the object still exists and is listening.
    public var isListening: Bool { object?.isListening ?? false }

    /// Creates an accessory that holds the object weakly.
    public init(_ object: any Accessory & AnyObject) {
        self.object = object
        (maximumBodyBytes, observesMessages) = (object.maximumBodyBytes, object.observesMessages)
    }

    /// Passes the event to the object, if it still exists.
    public func activity(_ activity: Activity, did event: ActivityEvent) { object?.activity(activity, did: event) }
}
