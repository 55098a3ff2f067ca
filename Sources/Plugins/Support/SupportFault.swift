/// What went wrong here, in a sentence; the caller gives it a code of its own.
package protocol SupportFault: Error, CustomStringConvertible {}
