/// An accessory that doesn't keep its object alive, for objects that own the agent or the handle.
public struct WeakAccessory: Accessory {
    private weak let object: (any Accessory & AnyObject)?
    /// The object's value.
    public let maximumBodyBytes: Int
    /// The object's value.
    public let observesMessages: Bool
    /// Whether the object exists and is listening.
    public var isListening: Bool { object?.isListening ?? false }

    /// Creates an accessory with a weak reference.
    public init(_ object: any Accessory & AnyObject) {
        self.object = object
        (maximumBodyBytes, observesMessages) = (object.maximumBodyBytes, object.observesMessages)
    }

    /// Passes the event to the object, if it exists.
    public func activity(_ activity: Activity, did event: ActivityEvent) { object?.activity(activity, did: event) }
}
