// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public struct URLRequest: Hashable, Sendable {
    public enum CachePolicy: UInt, Sendable {
        case useProtocolCachePolicy = 0, reloadIgnoringLocalCacheData = 1, returnCacheDataElseLoad = 2
    }
    public init(url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: TimeInterval = 60) {
        fatalError()
    }
    public var url: URL?
    public var cachePolicy: CachePolicy
    public var timeoutInterval: TimeInterval
    public var allowsCellularAccess: Bool
    public var allowsExpensiveNetworkAccess: Bool {
        get { fatalError() }
        set { fatalError() }
    }
    public var allowsConstrainedNetworkAccess: Bool {
        get { fatalError() }
        set { fatalError() }
    }
    public var httpMethod: String?
    public var allHTTPHeaderFields: [String: String]?
    public var httpBody: Data?
    public var httpBodyStream: InputStream? {
        get { fatalError() }
        set { fatalError() }
    }
    public var httpShouldHandleCookies: Bool
    public func value(forHTTPHeaderField field: String) -> String? { fatalError() }
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) { fatalError() }
    public mutating func addValue(_ value: String, forHTTPHeaderField field: String) { fatalError() }
}

open class URLResponse: NSObject, @unchecked Sendable {
    open var url: URL? { fatalError() }
    open var mimeType: String? { fatalError() }
    open var expectedContentLength: Int64 { fatalError() }
}

open class HTTPURLResponse: URLResponse, @unchecked Sendable {
    public init?(url: URL, statusCode: Int, httpVersion: String?, headerFields: [String: String]?) { fatalError() }
    open var statusCode: Int { fatalError() }
    open var allHeaderFields: [AnyHashable: Any] { fatalError() }
    open func value(forHTTPHeaderField field: String) -> String? { fatalError() }
}

open class URLCredential: NSObject, @unchecked Sendable {
    public enum Persistence: UInt, Sendable { case none = 0, forSession = 1, permanent = 2, synchronizable = 3 }
    public convenience init(trust: SecTrust) { fatalError() }
    public convenience init(identity: SecIdentity, certificates: [Any]?, persistence: Persistence) { fatalError() }
    override init() { fatalError() }
    open var identity: SecIdentity? { fatalError() }
    open var certificates: [Any] { fatalError() }
}

open class URLProtectionSpace: NSObject, @unchecked Sendable {
    open var host: String { fatalError() }
    open var port: Int { fatalError() }
    open var authenticationMethod: String { fatalError() }
    open func isProxy() -> Bool { fatalError() }
    open var serverTrust: SecTrust? { fatalError() }
}

open class URLAuthenticationChallenge: NSObject, @unchecked Sendable {
    open var previousFailureCount: Int { fatalError() }
    open var protectionSpace: URLProtectionSpace { fatalError() }
}

public let NSURLAuthenticationMethodServerTrust = ""
public let NSURLAuthenticationMethodClientCertificate = ""
/// Security declares these; declared here because both stubs need them. Not Sendable, as in the SDK.
open class SecTrust {}
open class SecIdentity {}
public enum tls_protocol_version_t: UInt16, @unchecked Sendable {
    case TLSv10 = 0x0301, TLSv11 = 0x0302, TLSv12 = 0x0303, TLSv13 = 0x0304, DTLSv10 = 0xFEFF, DTLSv12 = 0xFEFD
}

open class URLCache: NSObject, @unchecked Sendable {}
open class URLCredentialStorage: NSObject, @unchecked Sendable {}
open class HTTPCookieStorage: NSObject, @unchecked Sendable {}
extension HTTPCookie {
    public enum AcceptPolicy: UInt, Sendable { case always = 0, never = 1, onlyFromMainDocumentDomain = 2 }
}
open class HTTPCookie: NSObject, @unchecked Sendable {}

open class URLSessionConfiguration: NSObject, @unchecked Sendable {
    override init() { fatalError() }
    open class var `default`: URLSessionConfiguration { fatalError() }
    open class var ephemeral: URLSessionConfiguration { fatalError() }
    open class func background(withIdentifier identifier: String) -> URLSessionConfiguration { fatalError() }
    open var identifier: String? { fatalError() }
    public var urlCache: URLCache? = nil
    public var urlCredentialStorage: URLCredentialStorage? = nil
    public var httpCookieStorage: HTTPCookieStorage? = nil
    public var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy = .never
    public var httpShouldSetCookies = false
    public var requestCachePolicy: NSURLRequest.CachePolicy = .useProtocolCachePolicy
    public var timeoutIntervalForRequest: TimeInterval = 0
    public var timeoutIntervalForResource: TimeInterval = 0
    public var httpMaximumConnectionsPerHost = 0
    public var httpAdditionalHeaders: [AnyHashable: Any]? = nil
    public var connectionProxyDictionary: [AnyHashable: Any]? = nil
    public var allowsCellularAccess = true
    public var allowsExpensiveNetworkAccess = true
    public var allowsConstrainedNetworkAccess = true
    public var waitsForConnectivity = false
    public var tlsMinimumSupportedProtocolVersion = tls_protocol_version_t.TLSv10
}
public enum NSURLRequest { public typealias CachePolicy = URLRequest.CachePolicy }

open class URLSessionTask: NSObject, @unchecked Sendable {
    open var taskIdentifier: Int { fatalError() }
    open var response: URLResponse? { fatalError() }
    open var priority: Float {
        get { fatalError() }
        set { fatalError() }
    }
    open func cancel() { fatalError() }
    open func suspend() { fatalError() }
    open func resume() { fatalError() }
    public static let defaultPriority: Float = 0.5
    public static let lowPriority: Float = 0.25
    public static let highPriority: Float = 0.75
}
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}
open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {}

open class URLSession: NSObject, @unchecked Sendable {
    public enum AuthChallengeDisposition: Int, Sendable {
        case useCredential = 0, performDefaultHandling = 1, cancelAuthenticationChallenge = 2, rejectProtectionSpace = 3
    }
    public enum ResponseDisposition: Int, Sendable { case cancel = 0, allow = 1, becomeDownload = 2, becomeStream = 3 }
    public init(configuration: URLSessionConfiguration) { fatalError() }
    public init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?,
        delegateQueue queue: OperationQueue?
    ) { fatalError() }
    open var configuration: URLSessionConfiguration { fatalError() }
    open func finishTasksAndInvalidate() { fatalError() }
    open func flush() async { fatalError() }
    open func invalidateAndCancel() { fatalError() }
    open func dataTask(with request: URLRequest) -> URLSessionDataTask { fatalError() }
    open func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask { fatalError() }
    open func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) { fatalError() }
    open func data(for request: URLRequest) async throws -> (Data, URLResponse) { fatalError() }
}

open class URLSessionTaskTransactionMetrics: NSObject, @unchecked Sendable {
    open var fetchStartDate: Date? { fatalError() }
    open var domainLookupStartDate: Date? { fatalError() }
    open var domainLookupEndDate: Date? { fatalError() }
    open var connectStartDate: Date? { fatalError() }
    open var secureConnectionStartDate: Date? { fatalError() }
    open var secureConnectionEndDate: Date? { fatalError() }
    open var connectEndDate: Date? { fatalError() }
    open var requestStartDate: Date? { fatalError() }
    open var requestEndDate: Date? { fatalError() }
    open var responseStartDate: Date? { fatalError() }
    open var responseEndDate: Date? { fatalError() }
    open var networkProtocolName: String? { fatalError() }
    open var isReusedConnection: Bool { fatalError() }
    open var countOfRequestBodyBytesSent: Int64 { fatalError() }
    open var countOfResponseBodyBytesReceived: Int64 { fatalError() }
    open var remoteAddress: String? { fatalError() }
}
open class URLSessionTaskMetrics: NSObject, @unchecked Sendable {
    open var transactionMetrics: [URLSessionTaskTransactionMetrics] { fatalError() }
}

// The methods are optional in the SDK. Errand's are required here, so the compiler rejects a wrong signature, which the
// system would never call.
public protocol URLSessionDelegate: NSObjectProtocol, Sendable {}
public protocol URLSessionTaskDelegate: URLSessionDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void)
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void)
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64)
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse)
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)
    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}
public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
}

// Not Sendable, as in the SDK.
open class Stream: NSObject {
    public enum Status: UInt, Sendable {
        case notOpen, opening, open, reading, writing, atEnd, closed, error
    }
    public struct Event: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let openCompleted = Self(rawValue: 1)
        public static let hasBytesAvailable = Self(rawValue: 2)
        public static let hasSpaceAvailable = Self(rawValue: 4)
        public static let errorOccurred = Self(rawValue: 8)
        public static let endEncountered = Self(rawValue: 16)
    }
    public struct PropertyKey: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
    }
    open unowned(unsafe) var delegate: (any StreamDelegate)?
    open func property(forKey key: PropertyKey) -> Any? { fatalError() }
    open func setProperty(_ property: Any?, forKey key: PropertyKey) -> Bool { fatalError() }
    open func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { fatalError() }
    open func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { fatalError() }
    open var streamStatus: Status { fatalError() }
    open var streamError: (any Error)? { fatalError() }
    open func open() { fatalError() }
    open func close() { fatalError() }
    open class func getBoundStreams(
        withBufferSize bufferSize: Int, inputStream: UnsafeMutablePointer<InputStream?>?,
        outputStream: UnsafeMutablePointer<OutputStream?>?
    ) { fatalError() }
}
/// The method is optional in the SDK.
public protocol StreamDelegate: NSObjectProtocol {
    func stream(_ aStream: Stream, handle eventCode: Stream.Event)
}
// Not Sendable, as in the SDK.
open class RunLoop: NSObject {
    public struct Mode: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
    }
}
/// The SDK bridges the two types; here they are the same.
public typealias CFWriteStream = OutputStream
public func CFWriteStreamSetDispatchQueue(_ stream: CFWriteStream!, _ q: DispatchQueue!) { fatalError() }
open class InputStream: Stream {
    public init(data: Data) { fatalError() }
    open var hasBytesAvailable: Bool { fatalError() }
    open func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int { fatalError() }
    open func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length len: UnsafeMutablePointer<Int>
    ) -> Bool { fatalError() }
}
open class OutputStream: Stream {
    open var hasSpaceAvailable: Bool { fatalError() }
    open func write(_ buffer: UnsafePointer<UInt8>, maxLength length: Int) -> Int { fatalError() }
}

public let NSURLErrorFailingURLErrorKey: String = ""

public struct URLError: Error, Hashable, @unchecked Sendable {
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
    }
    public init(_ code: Code, userInfo: [String: Any] = [:]) { fatalError() }
    public var code: Code { fatalError() }
    public var userInfo: [String: Any] { fatalError() }
    public static func == (a: URLError, b: URLError) -> Bool { fatalError() }
    public func hash(into hasher: inout Hasher) { fatalError() }
}

extension URLError.Code {
    public static let unknown = Self(rawValue: -1)
    public static let cancelled = Self(rawValue: -999)
    public static let badURL = Self(rawValue: -1000)
    public static let timedOut = Self(rawValue: -1001)
    public static let unsupportedURL = Self(rawValue: -1002)
    public static let cannotFindHost = Self(rawValue: -1003)
    public static let cannotConnectToHost = Self(rawValue: -1004)
    public static let networkConnectionLost = Self(rawValue: -1005)
    public static let dnsLookupFailed = Self(rawValue: -1006)
    public static let notConnectedToInternet = Self(rawValue: -1009)
    public static let badServerResponse = Self(rawValue: -1011)
    public static let cannotDecodeRawData = Self(rawValue: -1015)
    public static let cannotDecodeContentData = Self(rawValue: -1016)
    public static let cannotParseResponse = Self(rawValue: -1017)
    public static let internationalRoamingOff = Self(rawValue: -1018)
    public static let callIsActive = Self(rawValue: -1019)
    public static let dataNotAllowed = Self(rawValue: -1020)
    public static let requestBodyStreamExhausted = Self(rawValue: -1021)
    public static let appTransportSecurityRequiresSecureConnection = Self(rawValue: -1022)
    public static let cannotCreateFile = Self(rawValue: -3000)
    public static let fileDoesNotExist = Self(rawValue: -1100)
    public static let noPermissionsToReadFile = Self(rawValue: -1102)
    public static let secureConnectionFailed = Self(rawValue: -1200)
    public static let serverCertificateHasBadDate = Self(rawValue: -1201)
    public static let serverCertificateUntrusted = Self(rawValue: -1202)
    public static let serverCertificateHasUnknownRoot = Self(rawValue: -1203)
    public static let serverCertificateNotYetValid = Self(rawValue: -1204)
    public static let clientCertificateRejected = Self(rawValue: -1205)
    public static let clientCertificateRequired = Self(rawValue: -1206)
}
