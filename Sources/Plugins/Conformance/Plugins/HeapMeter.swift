import ErrandSupport

/// The bytes of memory that the process has allocated and not freed.
enum HeapMeter {
    #if canImport(Darwin)
    static func bytes() -> Int {
        var statistics = malloc_statistics_t()
        malloc_zone_statistics(nil, &statistics)
        return statistics.size_in_use
    }
    #elseif os(Android)
    // Its malloc_info has another format.
    static func bytes() -> Int { residentBytes() }
    #else
    private typealias Count = @convention(c) () -> Int
    private typealias Info = @convention(c) (Int32, UnsafeMutableRawPointer) -> Int32

    private static let program = UInt(bitPattern: dlopen(nil, RTLD_NOW))

    private static func symbol(_ name: String) -> UnsafeMutableRawPointer? {
        UnsafeMutableRawPointer(bitPattern: program).flatMap { dlsym($0, name) }
    }

    /// A sanitizer has an allocator of its own.
    private static let sanitizer = symbol("__sanitizer_get_current_allocated_bytes").map {
        unsafeBitCast($0, to: Count.self)
    }
    private static let info = symbol("malloc_info").map { unsafeBitCast($0, to: Info.self) }

    static func bytes() -> Int {
        if let sanitizer { return sanitizer() }
        if let info, let text = written({ _ = info(0, $0) }), let count = used(in: text) { return count }
        return residentBytes()
    }

    /// The text that a body writes into a file in memory.
    private static func written(_ body: (UnsafeMutableRawPointer) -> Void) -> String? {
        var (buffer, size): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
        guard let file = open_memstream(&buffer, &size) else { return nil }
        body(UnsafeMutableRawPointer(file))
        fclose(file)
        defer { free(buffer) }
        guard let buffer else { return nil }
        return UnsafeBufferPointer(start: buffer, count: size).withMemoryRebound(to: UInt8.self) {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// The sums of all heaps follow the last one: the memory from the system, and the free part of it.
    private static func used(in text: String) -> Int? {
        let sums = text.split(separator: "</heap>").last.map(String.init) ?? text
        var (given, free): (Int?, Int) = (nil, 0)
        for line in sums.split(separator: "\n") {
            guard let size = attribute("size", of: line) else { continue }
            if line.hasPrefix("<system type=\"current\"") { given = (given ?? 0) + size }
            if line.hasPrefix("<total type=\"mmap\"") { given = (given ?? 0) + size }
            if line.hasPrefix("<total type=\"fast\"") || line.hasPrefix("<total type=\"rest\"") { free += size }
        }
        return given.map { $0 - free }
    }

    private static func attribute(_ name: String, of line: Substring) -> Int? {
        guard let start = line.firstRange(of: "\(name)=\"")?.upperBound else { return nil }
        return Int(line[start...].prefix { $0.isNumber })
    }

    #endif

    #if !canImport(Darwin)
    /// Where allocations are not counted: the pages in memory.
    private static func residentBytes() -> Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = fread(&bytes, 1, bytes.count, file)
        let fields = String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: " ")
        return fields.dropFirst().first.flatMap { Int($0) }.map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) } ?? 0
    }
    #endif
}
