// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// Processes, file descriptors and related types. `Process` exists on macOS only; NSTask.h marks it NS_SWIFT_SENDABLE.
@_exported public import Darwin

#if os(macOS)
open class Process: NSObject, @unchecked Sendable {
    public enum TerminationReason: Int, Sendable { case exit = 1, uncaughtSignal = 2 }
    open var executableURL: URL?
    open var currentDirectoryURL: URL?
    open var arguments: [String]?
    open var environment: [String: String]?
    open var standardInput: Any?
    open var standardOutput: Any?
    open var standardError: Any?
    open var terminationHandler: (@Sendable (Process) -> Void)?
    open func run() throws { fatalError() }
    open func terminate() { fatalError() }
    open func interrupt() { fatalError() }
    open func waitUntilExit() { fatalError() }
    open var isRunning: Bool { fatalError() }
    open var processIdentifier: Int32 { fatalError() }
    open var terminationStatus: Int32 { fatalError() }
    open var terminationReason: TerminationReason { fatalError() }
    open class func run(
        _ url: URL, arguments: [String], terminationHandler: (@Sendable (Process) -> Void)? = nil
    ) throws -> Process { fatalError() }
}
#endif

open class FileHandle: NSObject, @unchecked Sendable {
    open class var standardInput: FileHandle { fatalError() }
    open class var standardOutput: FileHandle { fatalError() }
    open class var standardError: FileHandle { fatalError() }
    open class var nullDevice: FileHandle { fatalError() }
    public convenience init?(forReadingAtPath path: String) { fatalError() }
    public convenience init?(forWritingAtPath path: String) { fatalError() }
    public convenience init(forReadingFrom url: URL) throws { fatalError() }
    public convenience init(forWritingTo url: URL) throws { fatalError() }
    open var availableData: Data { fatalError() }
    open var fileDescriptor: Int32 { fatalError() }
    open func truncate(atOffset offset: UInt64) throws { fatalError() }
    open func readDataToEndOfFile() -> Data { fatalError() }
    open func write(_ data: Data) { fatalError() }
    open func closeFile() { fatalError() }
    public func readToEnd() throws -> Data? { fatalError() }
    public func write<T: DataProtocol>(contentsOf data: T) throws { fatalError() }
    public func close() throws { fatalError() }
    @discardableResult public func seekToEnd() throws -> UInt64 { fatalError() }
    public func seek(toOffset offset: UInt64) throws { fatalError() }
}

open class Pipe: NSObject, @unchecked Sendable {
    open var fileHandleForReading: FileHandle { fatalError() }
    open var fileHandleForWriting: FileHandle { fatalError() }
}

// Not Sendable, as in the SDK.
open class Thread: NSObject {
    public convenience init(block: @escaping @Sendable () -> Void) { fatalError() }
    open var name: String? {
        get { fatalError() }
        set { fatalError() }
    }
    open var stackSize: Int {
        get { fatalError() }
        set { fatalError() }
    }
    open func start() { fatalError() }
    open class func sleep(forTimeInterval interval: TimeInterval) { fatalError() }
    open class func detachNewThread(_ block: @escaping @Sendable () -> Void) { fatalError() }
}

public func NSTemporaryDirectory() -> String { fatalError() }
