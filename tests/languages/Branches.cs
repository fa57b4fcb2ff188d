namespace Example
{
#if SILVERLIGHT
    public class Agent : Plain
#else
    public class Agent : Remote
#endif
    {
        #region Start
        public void Start(bool now)
        {
#if DEBUG
            if (now) {
#else
            {
#endif
                Go(now
#if SILVERLIGHT
                    , "}"
#endif
                );
            }
        }
        #endregion

        public int Stop() { return 0; }
    }

#if DEBUG
    class Checked { }
#else
    class Trusted { }
#endif
}
