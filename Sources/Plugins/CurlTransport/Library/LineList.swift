#if os(Linux) || os(Android)
import CErrandCurl
import ErrandSupport

/// Lines of text as a libcurl list. Nodes and texts share one reusable block of memory.
///
/// Safe: this object owns the memory and writes only within the room of ``begin(lines:bytes:)``. libcurl only reads it.
/// A list in use changes only between two transfers of its handle.
@safe final class LineList {
    private var memory: UnsafeMutableRawPointer?
    private var capacity = 0
    /// The number of nodes that fit. The texts follow the nodes.
    private var maximum = 0
    private(set) var count = 0
    /// The offsets of the next byte and of the start of its line.
    private var (end, start) = (0, 0)
    private var limit = 0

    init() {}

    convenience init(_ lines: [String]) {
        self.init()
        guard begin(lines: lines.count, bytes: lines.reduce(0) { $0 + $1.utf8.count }) else { return }
        for line in lines {
            append(line)
            endLine()
        }
    }

    deinit { unsafe free(memory) }

    var first: UnsafeMutablePointer<errand_curl_slist>? { count == 0 ? nil : unsafe node(0) }

    /// Removes all lines and reserves room for new ones. Returns `false` if memory runs out.
    func begin(lines: Int, bytes: Int) -> Bool {
        let nodes = unsafe lines * MemoryLayout<errand_curl_slist>.stride
        let size = nodes + bytes + lines
        count = 0
        if size > capacity {
            unsafe free(memory)
            unsafe memory = unsafe malloc(size)
            capacity = unsafe memory == nil ? 0 : size
        }
        (maximum, start, end, limit) = (lines, nodes, nodes, size)
        return capacity >= size
    }

    func append(_ text: String) {
        text.withSpan { bytes in
            precondition(bytes.count < limit - end, "there isn't enough room for the text")
            unsafe bytes.withUnsafeBytes { bytes in
                if let memory = unsafe memory, let source = bytes.baseAddress {
                    unsafe memcpy(memory + end, source, bytes.count)
                }
            }
            end += bytes.count
        }
    }

    func append(_ byte: UInt8) {
        precondition(end < limit - 1, "there isn't enough room for the byte")
        unsafe memory?.storeBytes(of: byte, toByteOffset: end, as: UInt8.self)
        end += 1
    }

    func endLine() {
        precondition(count < maximum && end < limit, "there isn't enough room for the line")
        guard let memory = unsafe memory else { return }
        unsafe memory.storeBytes(of: 0, toByteOffset: end, as: UInt8.self)
        end += 1
        let text = unsafe (memory + start).assumingMemoryBound(to: CChar.self)
        let node = unsafe node(count)
        unsafe node?.initialize(to: errand_curl_slist(data: text, next: nil))
        if count > 0 { unsafe self.node(count - 1)?.pointee.next = node }
        count += 1
        start = end
    }

    /// Removes the value of a header, so the line ends after the colon. libcurl leaves out such a header.
    func cut(_ name: String) {
        let length = name.utf8.count
        for index in 0..<count {
            guard let line = unsafe node(index)?.pointee.data, unsafe strncasecmp(line, name, length) == 0,
                unsafe line[length] == 0x3A
            else { continue }
            unsafe line[length + 1] = 0
        }
    }

    private func node(_ index: Int) -> UnsafeMutablePointer<errand_curl_slist>? {
        unsafe memory.map { unsafe $0.assumingMemoryBound(to: errand_curl_slist.self) + index }
    }
}
#endif
