/// Decides whether an attempt makes progress. An attempt makes progress if the file has more bytes afterwards than
/// after every earlier attempt for the same version. The file's length limits the number of such attempts.
struct HighWaterMark {
    private var received: Int64
    private var validator: StrongValidator?
    private var changes = 0

    init(_ file: PartialFile) { (received, validator) = (file.plan.received, file.representation?.validator) }

    mutating func rises(to file: PartialFile) -> Bool {
        let now = file.representation?.validator
        if now != validator {
            // If the file keeps changing on the server, new bytes don't count as progress.
            if validator != nil { changes += 1 }
            (validator, received) = (now, 0)
        }
        guard file.plan.received > received else { return false }
        received = file.plan.received
        return changes <= 3
    }

    mutating func reset() { received = 0 }
}
