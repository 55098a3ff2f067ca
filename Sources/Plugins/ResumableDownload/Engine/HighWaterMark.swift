/// Determines whether an attempt made progress: received more bytes than all earlier attempts at the same version of
/// the file. This limits such attempts by the file's length.
struct HighWaterMark {
    private var received: Int64
    private var validator: StrongValidator?
    private var changes = 0

    init(_ file: PartialFile) { (received, validator) = (file.plan.received, file.representation?.validator) }

    mutating func rises(to file: PartialFile) -> Bool {
        let now = file.representation?.validator
        if now != validator {
            // A file that keeps changing makes no progress.
            if validator != nil { changes += 1 }
            (validator, received) = (now, 0)
        }
        guard file.plan.received > received else { return false }
        received = file.plan.received
        return changes <= 3
    }

    mutating func reset() { received = 0 }
}
