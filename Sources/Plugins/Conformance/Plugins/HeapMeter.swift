import ErrandSupport

/// Counts the bytes that the process has allocated and not freed yet.
enum HeapMeter {
    #if canImport(Darwin)
    static func bytes() -> Int {
        var statistics = malloc_statistics_t()
        unsafe malloc_zone_statistics(nil, &statistics)
        return statistics.size_in_use
    }
    #elseif os(Android)
    // On Android, the text of `malloc_info` has another format.
    static func bytes() -> Int { residentBytes() }
    #else
    // Safe: the functions belong to the program itself, which is never unloaded, and have the types of the C library's
    // headers. The C library allocates the text, and `heapText()` frees it.

    /// The function that counts a sanitizer's bytes, because sanitizers use their own allocator.
    private static let sanitizer = systemFunction(
        "__sanitizer_get_current_allocated_bytes", as: (@convention(c) () -> Int).self)
    @safe private static let info = unsafe systemFunction(
        "malloc_info", as: (@convention(c) (Int32, UnsafeMutableRawPointer) -> Int32).self)

    static func bytes() -> Int {
        if let sanitizer { return sanitizer() }
        if let text = heapText(), let count = used(in: text) { return count }
        return residentBytes()
    }

    private static func heapText() -> String? {
        var (buffer, size): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
        guard let info, let file = unsafe open_memstream(&buffer, &size) else { return nil }
        _ = unsafe info(0, UnsafeMutableRawPointer(file))
        unsafe fclose(file)
        defer { unsafe free(buffer) }
        return unsafe buffer.map { unsafe String(cString: $0) }
    }

    /// Returns the memory that the C library has got from the system, without its free part. Reads the sums after the
    /// last heap in a text of `malloc_info`.
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
    /// Returns the resident memory of the process. This is for systems on which allocations can't be counted.
    private static func residentBytes() -> Int {
        guard let bytes = try? SystemFile(reading: "/proc/self/statm").read(256) else { return 0 }
        let fields = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        return fields.dropFirst().first.flatMap { Int($0) }.map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) } ?? 0
    }
    #endif
}
