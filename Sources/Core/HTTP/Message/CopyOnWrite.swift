/// Stores a large value type in a single reference, for values that are passed from step to step. Changing a shared
/// copy copies the value first.
///
/// A request, its response and its exchange have ten to twenty fields each, and every async function in the pipeline
/// keeps a copy in its frame. Stored inline, each copy would retain every field, and the frames would outgrow the 984
/// bytes that a task has without allocating. Through one reference, a copy costs a single retain.
///
/// The members are inlinable, so that other modules specialize them. Otherwise, each access to a field from `Errand`
/// would copy the whole value, which more than doubles the instructions of a send.
@usableFromInline package struct CopyOnWrite<Value: Sendable>: Sendable {
    // An array of one element provides copy-on-write without unsafe code.
    @usableFromInline var storage: [Value]

    @inlinable package init(_ value: Value) { storage = [value] }

    @inlinable package var value: Value {
        get { storage[0] }
        _modify { yield &storage[0] }
    }
}
