#if os(Linux) || os(Android)
import CErrandCurl
import ErrandEssentials

// libcurl's handles, behind calls without a pointer: the rest of the transport is safe Swift, but for the files named
// here. `CurlCallbacks.swift` has the functions that libcurl calls, `LineList.swift` the lists of text that it reads,
// `HeadBlock.swift` the lines of a response that it writes. All of it runs under the loop's driver lock.

/// One of libcurl's easy handles, and the buffer in which it describes errors.
///
/// Safe to use: the handle and the buffer belong to this object from their making to its end; libcurl copies texts and
/// blobs when it gets them, and a list that it reads later is kept here. What the handle's callbacks get is up to
/// `CurlCallbacks.swift`.
@safe final class CurlEasy {
    private(set) var raw: UnsafeMutableRawPointer
    private let errorText: UnsafeMutablePointer<CChar>
    /// The lists that libcurl has, each until it gets another one.
    private var (headers, addresses, route): (LineList?, LineList?, LineList?)

    /// CURL_ERROR_SIZE.
    private static let errorTextSize = 256

    /// Returns nil if there is no memory.
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

    /// Takes a new handle in place of the present one, which no pool has; false without memory.
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

    /// Takes the text, the blob or the list of an option away.
    func clear(_ option: Int32) { unsafe errand_curl_set_pointer(raw, option, nil) }

    /// Returns libcurl's code.
    func set(_ option: Int32, text: String) -> Int32 {
        unsafe text.withCString { unsafe errand_curl_set_pointer(raw, option, $0) }
    }

    /// Returns libcurl's code.
    func set(_ option: Int32, blob: Data) -> Int32 {
        unsafe blob.withUnsafeBytes { unsafe errand_curl_set_blob(raw, option, $0.baseAddress, $0.count) }
    }

    func set(_ option: Int32, _ lines: LineList?) {
        unsafe errand_curl_set_pointer(raw, option, lines?.first)
        switch option {
        case ERRAND_CURLOPT_HTTPHEADER: headers = lines
        case ERRAND_CURLOPT_RESOLVE: addresses = lines
        case ERRAND_CURLOPT_CONNECT_TO: route = lines
        default: preconditionFailure("the option takes no list")
        }
    }

    /// Has libcurl copy a body, of the length that it got before.
    func setBody(_ body: Data) {
        set(offset: ERRAND_CURLOPT_POSTFIELDSIZE_LARGE, Int64(body.count))
        unsafe body.withUnsafeBytes { bytes in
            // A pointer even without a byte: none would ask libcurl to read the body by callback.
            unsafe withUnsafeBytes(of: 0) { none in
                _ = unsafe errand_curl_set_pointer(
                    raw, ERRAND_CURLOPT_COPYPOSTFIELDS, bytes.baseAddress ?? none.baseAddress)
            }
        }
    }

    /// Has libcurl write its descriptions of errors here.
    func collectErrors() { unsafe errand_curl_set_pointer(raw, ERRAND_CURLOPT_ERRORBUFFER, errorText) }

    func setPool(_ pool: CurlPool) { unsafe errand_curl_set_pointer(raw, ERRAND_CURLOPT_SHARE, pool.raw) }

    // MARK: Results

    func long(_ info: Int32) -> Int { unsafe errand_curl_get_long(raw, info) }

    func offset(_ info: Int32) -> Int64 { unsafe errand_curl_get_offset(raw, info) }

    /// Nil for none, and for an empty one.
    func text(_ info: Int32) -> String? {
        guard let text = unsafe errand_curl_get_string(raw, info), unsafe text[0] != 0 else { return nil }
        return unsafe String(cString: text)
    }

    /// libcurl's description of the last error; libcurl ends it with a NUL within the buffer.
    var errorDescription: String { unsafe String(cString: errorText) }

    var hasErrorDescription: Bool { unsafe errorText[0] != 0 }

    func forgetError() { unsafe errorText[0] = 0 }

    // MARK: Work

    /// Returns libcurl's code.
    @discardableResult
    func pause(_ halves: Int32) -> Int32 { unsafe errand_curl_pause(raw, halves) }

    /// The socket of a connection that was made without a request; -1 without one.
    var socket: Int32 { unsafe errand_curl_get_socket(raw) }

    /// Sends bytes over such a connection without waiting. 0, and how many bytes; a code of libcurl's otherwise.
    func send(_ bytes: Data, from offset: Int, _ count: inout Int) -> Int32 {
        unsafe bytes.withUnsafeBytes { bytes in
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[offset...])
            return unsafe errand_curl_send(raw, rest.baseAddress, rest.count, &count)
        }
    }

    /// Receives bytes into a buffer without waiting. 0, and how many bytes; a code of libcurl's otherwise.
    func receive(into buffer: inout [UInt8], _ count: inout Int) -> Int32 {
        unsafe buffer.withUnsafeMutableBytes { buffer in
            unsafe errand_curl_receive(raw, buffer.baseAddress, buffer.count, &count)
        }
    }
}

/// A pool of connections that one handle alone uses; freed after its handle has let go of it.
@safe final class CurlPool {
    fileprivate let raw: UnsafeMutableRawPointer

    /// Returns nil if there is no memory.
    init?() {
        guard let raw = unsafe errand_curl_pool_make() else { return nil }
        unsafe self.raw = raw
    }

    deinit { unsafe errand_curl_pool_free(raw) }
}

/// One of libcurl's multi handles. Safe to use: the handle belongs to this object, which does nothing after `free`.
@safe final class CurlMulti {
    private(set) var raw: UnsafeMutableRawPointer?

    /// Returns nil if there is no memory, or no descriptor.
    init?() {
        guard let raw = unsafe errand_curl_multi_make() else { return nil }
        unsafe self.raw = raw
    }

    deinit { free() }

    /// Closes all connections, for which libcurl calls back. Frees nothing while the process ends.
    func free() {
        guard let raw = unsafe raw, errand_curl_enter() != 0 else { return }
        unsafe self.raw = nil
        unsafe errand_curl_multi_free(raw)
        errand_curl_leave()
    }

    func set(_ option: Int32, _ value: Int) {
        if let raw = unsafe raw { unsafe errand_curl_multi_set_long(raw, option, value) }
    }

    /// Returns libcurl's code.
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

    /// Has libcurl look at its timers.
    func actOnTimer() { act(ERRAND_CURL_SOCKET_TIMEOUT, 0) }
}

/// What libcurl says of itself: each text is its own, and stays as it is.
extension CurlLibrary {
    /// Loads libcurl, once for the process; nil if that went well, otherwise what was wrong.
    static func loadFailure() -> String? {
        var reason = [CChar](repeating: 0, count: 512)
        if unsafe errand_curl_load(&reason, reason.count) == 0 { return nil }
        return String(decoding: reason.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The library that is used.
    static var libraryName: String { unsafe String(cString: errand_curl_name()) }
    static var versionText: String { unsafe String(cString: errand_curl_version()) }
    static var tlsText: String { unsafe String(cString: errand_curl_tls()) }
    static func description(of code: Int32) -> String { unsafe String(cString: errand_curl_describe(code)) }

    /// Where libcurl was built to look for authorities; nil for nowhere.
    static var authoritiesFile: String? { unsafe errand_curl_authorities_file().map { unsafe String(cString: $0) } }
    static var authoritiesDirectory: String? {
        unsafe errand_curl_authorities_directory().map { unsafe String(cString: $0) }
    }
}
#endif
