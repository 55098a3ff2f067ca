public import ErrandEssentials
import Synchronization

/// A kind of failure, described to users in one short sentence, in English and Simplified Chinese.
///
/// A ``DescribedError`` returns the sentence as `localizedDescription`. To use other words or languages, set
/// ``provider`` once at launch.
///
/// ```swift
/// FailureSentence.provider = { error, sentence in
///     sentence == .unreachable ? "You seem to be offline." : nil
/// }
/// ```
///
/// Plugins choose a sentence for each error with ``DescribedError/failureSentence``, and can create sentences.
public struct FailureSentence: Hashable, Sendable {
    /// A stable name. Use it as a key for your app's own texts.
    public let name: String
    private let english: String
    private let simplifiedChinese: String

    /// Creates a sentence for a plugin's errors. The name must be unique.
    public init(_ name: String, english: String, simplifiedChinese: String) {
        (self.name, self.english, self.simplifiedChinese) = (name, english, simplifiedChinese)
    }

    /// Returns the sentence in the first of these languages that Errand supports, or else in English.
    ///
    /// - Parameter languages: BCP 47 identifiers in order of preference. Defaults to the user's preferred languages.
    public func text(preferring languages: [String] = Locale.preferredLanguages) -> String {
        for language in languages {
            let subtags = language.lowercased().split { $0 == "-" || $0 == "_" }
            if subtags.first == "en" { return english }
            guard subtags.first == "zh" else { continue }
            // Without a script subtag, the region determines the script.
            let isTraditional = ["hant", "tw", "hk", "mo"].contains { subtags.contains($0[...]) }
            if subtags.contains("hans") || !isTraditional { return simplifiedChinese }
        }
        return english
    }

    /// Compares the names.
    public static func == (a: FailureSentence, b: FailureSentence) -> Bool { a.name == b.name }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension FailureSentence: CustomStringConvertible {
    /// The name.
    public var description: String { name }
}

extension FailureSentence {
    /// Returns the app's own text for an error, or `nil` for the default text.
    public typealias Provider = @Sendable (_ error: any Error, _ sentence: FailureSentence) -> String?

    // The provider is global, because `localizedDescription` doesn't take an argument.
    private static let ownTexts = Mutex<Provider?>(nil)

    /// The app's own texts, for the whole process. Defaults to `nil`. An app's text takes precedence over a service's
    /// message.
    ///
    /// The closure is called on the thread that reads a `localizedDescription`. For a failed batch or chain, it
    /// receives the error of the part that failed.
    public static var provider: Provider? {
        get { ownTexts.withLock { $0 } }
        set {
            let old = ownTexts.withLock { texts in
                let old = texts
                texts = newValue
                return old
            }
            withExtendedLifetime(old) {}
        }
    }

    /// Returns the text for an error of this kind: the app's own text, or else the service's message, or else the
    /// sentence.
    public func text(for error: any Error, message: String? = nil) -> String {
        if let own = Self.provider?(error, self) { return own }
        if let message, message.contains(where: { !$0.isWhitespace }) { return message }
        return text()
    }

    /// Returns any error's text for users, or else the text of ``failed``.
    public static func text(of error: any Error) -> String {
        (error as? any LocalizedError)?.errorDescription ?? failed.text(for: error)
    }
}

extension FailureSentence {
    /// The sentence for a server that can't be reached.
    public static let unreachable = FailureSentence(
        "unreachable", english: "The server couldn't be reached.", simplifiedChinese: "无法连接到服务器。")
    /// The sentence for a connection that was lost while it was in use.
    public static let connectionLost = FailureSentence(
        "connectionLost", english: "The connection was lost.", simplifiedChinese: "网络连接已中断。")
    /// The sentence for a response that took too long.
    public static let timedOut = FailureSentence(
        "timedOut", english: "The server took too long to respond.", simplifiedChinese: "服务器响应超时。")
    /// The sentence for a server whose identity can't be verified.
    public static let insecureConnection = FailureSentence(
        "insecureConnection", english: "A secure connection couldn't be made.", simplifiedChinese: "无法建立安全连接。")
    /// The sentence for a response that the app can't use.
    public static let unusableResponse = FailureSentence(
        "unusableResponse", english: "The server's response couldn't be used.", simplifiedChinese: "服务器返回的内容无法使用。")
    /// The sentence for data that exceeds a limit.
    public static let tooLarge = FailureSentence(
        "tooLarge", english: "The data is too large.", simplifiedChinese: "数据过大。")
    /// The sentence for a service that is overloaded.
    public static let busy = FailureSentence(
        "busy", english: "The service is busy; try again later.", simplifiedChinese: "服务繁忙，请稍后重试。")
    /// The sentence for a service that failed with an error.
    public static let serviceFailed = FailureSentence(
        "serviceFailed", english: "The service has a problem.", simplifiedChinese: "服务出现问题。")
    /// The sentence for a user who isn't signed in.
    public static let signInRequired = FailureSentence(
        "signInRequired", english: "You need to sign in.", simplifiedChinese: "请先登录。")
    /// The sentence for a user who lacks permission.
    public static let notAllowed = FailureSentence(
        "notAllowed", english: "You don't have permission for this.", simplifiedChinese: "你没有权限执行此操作。")
    /// The sentence for a resource that the service can't find.
    public static let notFound = FailureSentence(
        "notFound", english: "This couldn't be found.", simplifiedChinese: "找不到所请求的内容。")
    /// The sentence for a request that the service rejected.
    public static let refused = FailureSentence(
        "refused", english: "The service refused the request.", simplifiedChinese: "服务拒绝了此请求。")
    /// The sentence for an operation that was cancelled, which isn't a failure.
    public static let cancelled = FailureSentence(
        "cancelled", english: "This was cancelled.", simplifiedChinese: "操作已取消。")
    /// The sentence for an operation that stopped because another user signed in.
    public static let userChanged = FailureSentence(
        "userChanged", english: "Another user has signed in.", simplifiedChinese: "已有其他用户登录。")
    /// The sentence for a file that can't be read or written.
    public static let fileFailed = FailureSentence(
        "fileFailed", english: "A file couldn't be read or written.", simplifiedChinese: "无法读取或写入文件。")
    /// The sentence for a device without enough free space.
    public static let noSpace = FailureSentence(
        "noSpace", english: "There isn't enough free space.", simplifiedChinese: "存储空间不足。")
    /// The sentence for data that was requested from storage but isn't on the device.
    public static let notStored = FailureSentence(
        "notStored", english: "This content isn't stored on this device.", simplifiedChinese: "此设备上没有已存储的内容。")
    /// The sentence for an operation that can't start because it's already running.
    public static let alreadyRunning = FailureSentence(
        "alreadyRunning", english: "This is already in progress.", simplifiedChinese: "此操作正在进行中。")
    /// The sentence for any other failure, such as a mistake in the app.
    public static let failed = FailureSentence(
        "failed", english: "Something went wrong.", simplifiedChinese: "操作失败。")

    /// Returns the sentence for an unacceptable status, such as ``notFound`` for 404.
    public static func status(_ status: Int) -> FailureSentence {
        switch status {
        case 401: .signInRequired
        case 403: .notAllowed
        case 404, 410: .notFound
        case 408, 504: .timedOut
        case 413: .tooLarge
        case 429, 503: .busy
        case 400...499: .refused
        case 500...599: .serviceFailed
        default: .unusableResponse
        }
    }
}

extension ErrandError {
    /// The sentence for the error's code, or for an unacceptable status.
    public var failureSentence: FailureSentence {
        switch code {
        case .cancelled, .activityEnded: .cancelled
        case .timedOut, .deadlineExceeded: .timedOut
        case .nameLookupFailed, .cannotConnect: .unreachable
        case .connectionLost, .truncated: .connectionLost
        case .insecureConnection: .insecureConnection
        case .bodyTooLarge: .tooLarge
        case .fileFailed: .fileFailed
        case .userChanged: .userChanged
        case .unacceptableStatus: .status(response?.status ?? 0)
        case .invalidResponse, .redirectFailed, .unacceptableContentType, .checkFailed, .decodingFailed:
            .unusableResponse
        default: .failed
        }
    }

    /// The text for users. For a failed check, the text of the check's error, if it has one.
    public var errorDescription: String? {
        if code == .checkFailed, let text = (underlying as? any LocalizedError)?.errorDescription { return text }
        return failureSentence.text(for: self)
    }
}
