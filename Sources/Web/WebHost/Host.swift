/// The services of the browser. All callbacks come later, never inside the call that asked.
public enum Host {}
