#if os(Linux) || os(Android)
/// A reference that is neither counted nor checked, to an object that owns the one that holds it.
struct Unowned<Object: AnyObject> {
    private let reference: Unmanaged<Object>
    init(_ object: Object) { reference = .passUnretained(object) }
    var value: Object { reference.takeUnretainedValue() }
}
#endif
