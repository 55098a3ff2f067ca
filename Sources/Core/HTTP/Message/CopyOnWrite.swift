/// Stores a large value in a single reference, with copy on write.
///
/// Every async function in the pipeline keeps a copy of the request, the response and the exchange. Stored inline, each
/// copy would retain ten to twenty fields, and the frames would outgrow the 984 bytes that a task has without
/// allocating.
///
/// The members are inlinable. Otherwise, each access from `Errand` would copy the whole value, which more than doubles
/// the instructions of a send.
@usableFromInline package struct CopyOnWrite<Value: Sendable>: Sendable {
    // A one-element array provides copy-on-write without pointers.
    @usableFromInline var storage: [Value]

    @inlinable package init(_ value: Value) { storage = [value] }

    @inlinable package var value: Value {
        get { storage[0] }
        _modify { yield &storage[0] }
    }
}
