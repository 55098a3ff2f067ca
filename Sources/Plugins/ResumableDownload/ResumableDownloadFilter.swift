public import Errand
import ErrandEssentials
import ErrandTransfers

/// A filter that downloads the file of a ``DownloadRequest``, in as many attempts and segments as necessary.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: "https://example.com", transport: .curl)
/// let file = try await agent.send(GetVideo(destination: folder)).value
/// ```
///
/// Each ``DownloadRequest`` brings this filter along. Add the filter to an agent if you want to set options for all
/// downloads, or to choose the filter's position. If a call has several of these filters, the outermost filter does the
/// work.
///
/// Filters before this filter see a single call. Filters after this filter see each attempt and each segment. The
/// filter asks the server for a digest, and for bytes without a content coding (`Accept-Encoding: identity`).
///
/// The downloads in a process share half of the file descriptors that the process may open. Further downloads wait. The
/// filter throws `TransferError`, and the errors of the transport and of the filters after it. It runs off the caller's
/// actor. While it accesses the disk, it blocks a thread of the pool.
public struct ResumableDownloadFilter: Filter {
    /// The options for requests that don't set their own.
    public var options: DownloadOptions

    /// Creates a filter.
    public init(_ options: DownloadOptions = DownloadOptions()) { self.options = options }

    /// Returns ``FilterTraits/unique``.
    public var traits: FilterTraits { .unique }

    /// Returns a problem if an outer filter signs requests, because each attempt and each segment needs its own
    /// signature.
    public func orderProblem(after outer: any Filter) -> String? {
        outer.traits.contains(.signs) ? "every attempt reuses the first attempt's signature and timestamp" : nil
    }

    /// The filter's line in the output of `agent.explain`, with the filter's options.
    public var explanation: String {
        let segments = options.maximumSegments > 1 ? " in \(options.maximumSegments) segments" : ""
        return "downloads to a file\(segments), resumed after failures"
    }

    /// Downloads the file of a ``DownloadRequest``. Passes requests of other types on unchanged.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        // Checks the type before the cast, because a cast that fails is slow.
        guard type(of: exchange.request) is any DownloadRequest.Type,
            let request = exchange.request as? any DownloadRequest
        else {
            return try await next(exchange)
        }
        // Other retry filters must not repeat the request, because this filter has already repeated everything that can
        // be repeated.
        defer { exchange.markFailureAsFinal() }
        do {
            let order = try DownloadOrder(request, exchange: exchange, options: request.downloadOptions ?? options)
            return try await DescriptorBudget.shared.withDescriptors(for: 2 + order.segments) {
                order.report(
                    .queued(reason: "waiting for other downloads to close files: the process can't open more"), .queued)
            } _: {
                let run = DownloadRun(order, file: try await order.open(), next: next)
                return try await run.run()
            }
        } catch var error as TransferError {
            if error.request == nil { error.request = exchange.http }
            throw error
        }
    }
}

extension Filter where Self == ResumableDownloadFilter {
    /// A filter with default options: `filters: [.downloads]`.
    public static var downloads: ResumableDownloadFilter { ResumableDownloadFilter() }

    /// Returns a filter with options for all downloads: `filters: [.downloads(DownloadOptions(maximumSegments: 4))]`.
    public static func downloads(_ options: DownloadOptions) -> ResumableDownloadFilter {
        ResumableDownloadFilter(options)
    }
}
