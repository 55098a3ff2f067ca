import ErrandEssentials
import ErrandSupport

/// The first bytes of a file. A body can take over the memory without copying.
// Safe: the memory has `count` bytes, is filled before the initializer returns, and doesn't change afterwards. This
// value, or the data that has taken it over, frees it once.
@safe
struct FileMemory: ~Copyable {
    private let memory: UnsafeMutableRawBufferPointer

    init?(_ file: borrowing DiskFile, count: Int) throws(DiskFile.Failure) {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        do throws(SystemFile.Failure) {
            guard try unsafe file.file.read(memory, at: 0) == count else {
                unsafe memory.deallocate()
                return nil
            }
        } catch {
            unsafe memory.deallocate()
            throw DiskFile.Failure.system(error.code)
        }
        unsafe self.memory = memory
    }

    deinit { unsafe memory.deallocate() }

    func withSpan<Result>(_ body: (Span<UInt8>) throws -> Result) rethrows -> Result {
        try unsafe body(memory.bindMemory(to: UInt8.self).span)
    }

    /// Returns data that takes over the memory and keeps the whole memory alive. Traps if the range is out of bounds.
    consuming func data(_ range: Range<Int>) -> Data {
        let memory = unsafe memory
        discard self
        let part = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[range])
        guard let first = part.baseAddress, unsafe !part.isEmpty else {
            unsafe memory.deallocate()
            return Data()
        }
        let start = memory.baseAddress
        return unsafe Data(
            bytesNoCopy: first, count: part.count, deallocator: .custom { _, _ in unsafe start?.deallocate() })
    }
}
