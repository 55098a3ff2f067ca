#if os(Linux) || os(Android)
import CErrandCurl
import ErrandEssentials

// libcurl's handles, wrapped in calls without pointers. The calls are made under the loop's driver lock.

/// A libcurl easy handle and its error buffer.
///
/// Safe: this object owns both. libcurl copies texts and blobs, and this object keeps the lists that libcurl reads
/// later. See `CurlCallbacks.swift` for the callbacks' user data.
@safe final class CurlEasy {
    private(set) var raw: UnsafeMutableRawPointer
    private let errorText: UnsafeMutablePointer<CChar>
    /// The lists that are set. libcurl uses each list until it's replaced.
    private var (headers, addresses, route): (LineList?, LineList?, LineList?)

    private static let errorTextSize = 256

    init?() {
        guard let raw = unsafe errand_curl_easy_make() else { return nil }
        unsafe self.raw = raw
        unsafe errorText = .allocate(capacity: Self.errorTextSize)
        unsafe errorText.initialize(repeating: 0, count: Self.errorTextSize)
    }

    deinit {
        unsafe errand_curl_easy_free(raw)
        unsafe errorText.deallocate()
    }

    /// Replaces the handle with a new one. The old handle must not be in a multi handle.
    func renew() -> Bool {
        guard let new = unsafe errand_curl_easy_make() else { return false }
        unsafe errand_curl_easy_free(raw)
        unsafe raw = new
        return true
    }

    func reset() { unsafe errand_curl_easy_reset(raw) }

    // MARK: Options

    func set(_ option: Int32, _ value: Int) { unsafe errand_curl_set_long(raw, option, value) }

    func set(offset option: Int32, _ value: Int64) { unsafe errand_curl_set_offset(raw, option, value) }

    func clear(_ option: Int32) { unsafe errand_curl_set_pointer(raw, option, nil) }

    func set(_ option: Int32, text: String) -> Int32 {
        unsafe text.withCString { unsafe errand_curl_set_pointer(raw, option, $0) }
    }

    func set(_ option: Int32, blob: Data) -> Int32 {
        unsafe blob.withUnsafeBytes { unsafe errand_curl_set_blob(raw, option, $0.baseAddress, $0.count) }
    }

    func set(_ option: Int32, _ lines: LineList?) {
        unsafe errand_curl_set_pointer(raw, option, lines?.first)
        switch option {
        case ERRAND_CURLOPT_HTTPHEADER: headers = lines
        case ERRAND_CURLOPT_RESOLVE: addresses = lines
        case ERRAND_CURLOPT_CONNECT_TO: route = lines
        default: preconditionFailure("this libcurl option doesn't take a list")
        }
    }

    func setBody(_ body: Data) {
        set(offset: ERRAND_CURLOPT_POSTFIELDSIZE_LARGE, Int64(body.count))
        unsafe body.withUnsafeBytes { bytes in
            // An empty body needs a pointer, too: without one, libcurl would read the body through a callback.
            unsafe withUnsafeBytes(of: 0) { none in
                _ = unsafe errand_curl_set_pointer(
                    raw, ERRAND_CURLOPT_COPYPOSTFIELDS, bytes.baseAddress ?? none.baseAddress)
            }
        }
    }

    func collectErrors() { unsafe errand_curl_set_pointer(raw, ERRAND_CURLOPT_ERRORBUFFER, errorText) }

    func setPool(_ pool: CurlPool) { unsafe errand_curl_set_pointer(raw, ERRAND_CURLOPT_SHARE, pool.raw) }

    // MARK: Results

    func long(_ info: Int32) -> Int { unsafe errand_curl_get_long(raw, info) }

    func offset(_ info: Int32) -> Int64 { unsafe errand_curl_get_offset(raw, info) }

    func text(_ info: Int32) -> String? {
        guard let text = unsafe errand_curl_get_string(raw, info), unsafe text[0] != 0 else { return nil }
        return unsafe String(cString: text)
    }

    /// libcurl's text for the last error. libcurl ends the text with a NUL within the buffer.
    var errorDescription: String { unsafe String(cString: errorText) }

    var hasErrorDescription: Bool { unsafe errorText[0] != 0 }

    func forgetError() { unsafe errorText[0] = 0 }

    // MARK: Work

    @discardableResult
    func pause(_ halves: Int32) -> Int32 { unsafe errand_curl_pause(raw, halves) }

    /// The socket of a connection that was opened without a request, or -1.
    var socket: Int32 { unsafe errand_curl_get_socket(raw) }

    /// Sends bytes. Returns 0 and sets `count`, or returns a libcurl code.
    func send(_ bytes: Data, from offset: Int, _ count: inout Int) -> Int32 {
        unsafe bytes.withUnsafeBytes { bytes in
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[offset...])
            return unsafe errand_curl_send(raw, rest.baseAddress, rest.count, &count)
        }
    }

    func receive(into buffer: inout [UInt8], _ count: inout Int) -> Int32 {
        unsafe buffer.withUnsafeMutableBytes { buffer in
            unsafe errand_curl_receive(raw, buffer.baseAddress, buffer.count, &count)
        }
    }
}

/// A connection pool for a single handle. Clear the handle's `ERRAND_CURLOPT_SHARE` before releasing the pool.
@safe final class CurlPool {
    fileprivate let raw: UnsafeMutableRawPointer

    init?() {
        guard let raw = unsafe errand_curl_pool_make() else { return nil }
        unsafe self.raw = raw
    }

    deinit { unsafe errand_curl_pool_free(raw) }
}

/// A libcurl multi handle. Safe: this object owns the handle, and ignores calls after ``free()``.
@safe final class CurlMulti {
    private(set) var raw: UnsafeMutableRawPointer?

    init?() {
        guard let raw = unsafe errand_curl_multi_make() else { return nil }
        unsafe self.raw = raw
    }

    deinit { free() }

    /// Frees the handle and closes all connections through callbacks. Keeps the handle if the process is about to end.
    func free() {
        guard let raw = unsafe raw, errand_curl_enter() != 0 else { return }
        unsafe self.raw = nil
        unsafe errand_curl_multi_free(raw)
        errand_curl_leave()
    }

    func set(_ option: Int32, _ value: Int) {
        if let raw = unsafe raw { unsafe errand_curl_multi_set_long(raw, option, value) }
    }

    func add(_ easy: CurlEasy) -> Int32 {
        guard let raw = unsafe raw else { return -1 }
        return unsafe errand_curl_multi_add(raw, easy.raw)
    }

    func remove(_ easy: CurlEasy) {
        if let raw = unsafe raw { unsafe errand_curl_multi_remove(raw, easy.raw) }
    }

    func act(_ descriptor: Int32, _ events: Int32) {
        if let raw = unsafe raw { unsafe errand_curl_multi_act(raw, descriptor, events) }
    }

    func actOnTimer() { act(ERRAND_CURL_SOCKET_TIMEOUT, 0) }
}

extension CurlLibrary {
    static func loadFailure() -> String? {
        var reason = [CChar](repeating: 0, count: 512)
        if unsafe errand_curl_load(&reason, reason.count) == 0 { return nil }
        return String(decoding: reason.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    static var libraryName: String { unsafe String(cString: errand_curl_name()) }
    static var versionText: String { unsafe String(cString: errand_curl_version()) }
    static var tlsText: String { unsafe String(cString: errand_curl_tls()) }
    static func description(of code: Int32) -> String { unsafe String(cString: errand_curl_describe(code)) }

    /// The file with authorities that this build of libcurl looks for.
    static var authoritiesFile: String? { unsafe errand_curl_authorities_file().map { unsafe String(cString: $0) } }
    static var authoritiesDirectory: String? {
        unsafe errand_curl_authorities_directory().map { unsafe String(cString: $0) }
    }
}
#endif
