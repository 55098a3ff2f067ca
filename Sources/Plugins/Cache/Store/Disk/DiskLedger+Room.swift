import ErrandEssentials

extension DiskLedger {
    /// Does something that needs room on the disk; while the disk is full it removes what was used least recently, and does
    /// it again. Throws what it throws in the end.
    func makingRoom<Value>(
        for bytes: Int64, _ body: () throws(DiskFile.Failure) -> Value
    ) throws(DiskFile.Failure) -> Value {
        var wanted = max(bytes, 64 << 10)
        for _ in 0..<32 {
            do { return try body() } catch {
                guard error.isFull, shrink(by: wanted) else { throw error }
                // Others may take what this frees.
                wanted *= 2
            }
        }
        return try body()
    }
}
