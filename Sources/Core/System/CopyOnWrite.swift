/// A value behind a single reference, copied when one of several copies is changed: for a large value type that is
/// passed from step to step.
///
/// A request, its response and its exchange have ten to twenty fields each, and every async function on the way keeps
/// its own copy in its frame. Inline, each copy retains every field, and the frames outgrow the 984 bytes that a task
/// has without allocating. Behind one reference a copy costs a single retain.
@frozen package struct CopyOnWrite<Value: Sendable>: Sendable {
    // An array of one: its elements are copied when they are changed and shared, without unsafe code.
    @usableFromInline var storage: [Value]

    @inlinable package init(_ value: Value) { storage = [value] }

    @inlinable package var value: Value {
        get { storage[0] }
        _modify { yield &storage[0] }
    }
}
